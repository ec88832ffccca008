#' Fit a model to a data frame
#'
#' Draws from the posterior of the clusters of the rows, or, with a greedy model, merges the rows into a tree. The number
#' of clusters is not a setting: it is inferred.
#'
#' An interrupt (Ctrl-C, Esc) stops the chains after the sweep and keeps what was drawn; [coppice_resume()] continues, bit
#' for bit as if it had not been interrupted. The same seed gives the same draws for any number of threads, and the same
#' as the command line with the same table.
#'
#' @param model Name of a model, for example `"nrmm"` (a mixture), `"rbhmc"` (a tree of mixtures), `"bhc"` (one binary tree)
#'   or `"crosscat"` (views of the columns). [coppice_models()] lists them.
#' @param data A data frame or a matrix. Numbers, logicals, factors, texts, dates and times; `NA` is a missing cell.
#'   Row names name the rows.
#' @param ... Settings of the model, by the names of [coppice_models()] with underscores, for example
#'   `alpha_prior = c(2, 1)`.
#' @param chains,warmup,draws,thin Number of chains, of sweeps that are discarded, of draws of each chain, and of sweeps for
#'   each draw. `NULL` is the default of the model.
#' @param seed A whole number.
#' @param family Family of all columns, or `"auto"`: by the kind of each.
#' @param family_settings Named list of the families' hyper-parameters.
#' @param hyper `"learned"`: hyper-parameters that are not given are learned where the model can; `"fixed"`: by the scales
#'   of the columns.
#' @param codebook Named list with an entry for each column whose kind or family is to be set, for example
#'   `list(visits = list(kind = "count", family = "poisson"))`; or the name of a codebook file.
#' @param standardize Whether to scale numbers to mean 0 and standard deviation 1.
#' @param pca Number of principal components to replace the numbers by; 0 for none.
#' @param weights Whole numbers, one for each row: a row of weight w counts as w equal rows that share a cluster. `NULL`:
#'   every row counts once. Only for models that take weights: `"nrmm"`, `"nhcm"`, `"crosscat"`, `"bhc"` and `"bhcc"`.
#' @param output Run file to write; `NULL` for a temporary one. The command line and Python read it too.
#' @param overwrite Whether an existing run file may be replaced.
#' @param time_limit Seconds after which to stop; `Inf` for none.
#' @param threads Number of threads; 0 for all cores.
#' @param progress Whether to show progress.
#' @return An object of class `coppice_run`.
#' @examples
#' run <- coppice_fit("nrmm", faithful, chains = 2, warmup = 50, draws = 50)
#' table(coppice_clusters(run)$cluster)
#' @export
coppice_fit <- function(model, data, ..., chains = NULL, warmup = NULL, draws = NULL, thin = NULL, seed = 1,
                        family = "auto", family_settings = list(), hyper = "learned", codebook = list(),
                        standardize = FALSE, pca = 0, weights = NULL, output = NULL, overwrite = FALSE,
                        time_limit = Inf, threads = 0, progress = interactive()) {
  parameters <- list(...)
  names(parameters) <- gsub("_", "-", names(parameters))
  length_of_run <- Filter(Negate(is.null), list(chains = chains, warmup = warmup, draws = draws, thin = thin,
                                                seed = seed))
  path <- if (is.null(output)) tempfile("run", fileext = ".coppice") else path.expand(output)
  end <- with_progress(progress, function(show) {
    ask(fit_(model, columns_of(data), row_names_of(data), typed_list(parameters, as_typed),
             typed_list(length_of_run, as_typed),
             list(family = family, hyper = hyper, standardize = standardize, pca = as.integer(pca),
                  codebook = codebook_of(codebook, data), weights = as.double(weights)),
             typed_list(family_settings, as_toml), path, overwrite, as.integer(threads),
             if (is.finite(time_limit)) time_limit else 0, show))
  })
  opened(path, end)
}

#' Continue a run that was stopped, or draw more
#'
#' @param run A `coppice_run`, or the name of a run file.
#' @param draws Number of draws of each chain at the end; `NULL` for as many as were asked for.
#' @inheritParams coppice_fit
#' @return The longer run, identical to that of an uninterrupted fit.
#' @examples
#' run <- coppice_fit("nrmm", faithful, chains = 2, warmup = 50, draws = 50)
#' run <- coppice_resume(run, draws = 80)
#' run
#' @export
coppice_resume <- function(run, draws = NULL, time_limit = Inf, threads = 0, progress = interactive()) {
  path <- if (inherits(run, "coppice_run")) run$path else path.expand(run)
  end <- with_progress(progress, function(show) {
    ask(resume_(path, if (is.null(draws)) 0L else as.integer(draws), as.integer(threads),
                if (is.finite(time_limit)) time_limit else 0, show))
  })
  opened(path, end)
}

#' Open a run file
#'
#' @param path Run file, written by [coppice_fit()], the command line or Python.
#' @return An object of class `coppice_run`.
#' @examples
#' path <- tempfile(fileext = ".coppice")
#' run <- coppice_fit("nrmm", faithful, chains = 2, warmup = 50, draws = 50, output = path)
#' coppice_open(path)
#' @export
coppice_open <- function(path) {
  path <- path.expand(path)
  pointer <- ask(open_(path))
  structure(c(list(pointer = pointer), ask(head_(pointer))), class = "coppice_run")
}

opened <- function(path, end) {
  run <- tryCatch(coppice_open(path), error = function(e) {
    if (end == "interrupted") stop("stopped before every chain had a draw", call. = FALSE)
    if (end == "out of time") stop("the time limit was reached before every chain had a draw", call. = FALSE)
    stop(e)
  })
  for (note in run$notes) if (grepl("left out|^warning: ", note)) warning(in_r_words(note), call. = FALSE)
  if (end != "finished")
    warning(sprintf("%s after %d of %d draws of each chain; coppice_resume() continues",
                    if (end == "interrupted") "stopped" else "time limit reached", run$draws, run$asked_draws),
            call. = FALSE)
  run
}

with_progress <- function(progress, work) {
  if (!progress) return(work(NULL))
  bar <- utils::txtProgressBar(style = 3, file = stderr())
  on.exit(close(bar))
  work(function(fraction) utils::setTxtProgressBar(bar, fraction))
}

#' Models and their settings
#'
#' @param model Names of models; all by default.
#' @return A data frame with one row for each setting: model, parameter, type, default, what it accepts, and help.
#' @examples
#' head(coppice_models("nrmm")[, c("parameter", "default")])
#' @export
coppice_models <- function(model = NULL) {
  table <- as.data.frame(parameters_(), stringsAsFactors = FALSE)
  table$parameter <- gsub("-", "_", table$parameter)
  if (is.null(model)) return(table)
  unknown <- setdiff(model, model_names_())
  if (length(unknown) > 0)
    stop(sprintf("there is no model '%s'; the models are %s", unknown[1], paste(model_names_(), collapse = ", ")),
         call. = FALSE)
  table <- table[table$model %in% model, ]
  rownames(table) <- NULL
  table
}
