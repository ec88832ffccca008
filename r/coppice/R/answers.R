#' Answers of a run
#'
#' `coppice_clusters()` gives the point estimate, the partition of least expected distance to the draws.
#' `coppice_draws()` gives the drawn partitions, `coppice_coclustering()` how often two rows share a cluster (the posterior
#' similarity matrix), and `coppice_membership()` the probability of each reported cluster for each row.
#' `coppice_profile()` says what makes each cluster different, `coppice_diagnostics()` whether the chains agree.
#'
#' The matrix of `coppice_draws()` has one row for each draw, all chains one after the other, and one column for each row of
#' the data, with whole numbers from 1: the form that the packages mcclust, mcclust.ext and salso take. Greedy models have
#' one draw.
#'
#' @param run A `coppice_run`.
#' @param level Level of the hierarchy, 1 is the coarsest. Flat models have level 1 only.
#' @param select The loss of the point estimate, `"vi"` or `"binder"`.
#' @param traits Number of traits of each cluster.
#' @return `coppice_clusters()`: a data frame with cluster and confidence of each row. `coppice_profile()` and
#'   `coppice_diagnostics()`: data frames. The others: matrices with the names of the rows.
#' @examples
#' run <- coppice_fit("nrmm", faithful, chains = 2, warmup = 50, draws = 50)
#' head(coppice_clusters(run))
#' dim(coppice_draws(run))
#' coppice_coclustering(run)[1:3, 1:3]
#' coppice_profile(run)
#' @name answers
NULL

#' @rdname answers
#' @export
coppice_clusters <- function(run, level = 1, select = "vi") {
  estimate <- ask(consensus_(run$pointer, as.integer(level), select))
  data.frame(cluster = estimate$cluster, confidence = estimate$confidence, row.names = run$row_names)
}

#' @rdname answers
#' @export
coppice_draws <- function(run, level = 1) {
  draws <- ask(draws_(run$pointer, as.integer(level)))
  colnames(draws) <- run$row_names
  draws
}

#' @rdname answers
#' @export
coppice_coclustering <- function(run, level = 1) {
  matrix <- ask(coclustering_(run$pointer, as.integer(level), 0L))
  dimnames(matrix) <- list(run$row_names, run$row_names)
  matrix
}

#' @rdname answers
#' @export
coppice_membership <- function(run, level = 1, select = "vi") {
  matrix <- ask(membership_(run$pointer, as.integer(level), select))
  dimnames(matrix) <- list(run$row_names, c(seq_len(ncol(matrix) - 1), "alone"))
  matrix
}

#' @rdname answers
#' @export
coppice_profile <- function(run, level = 1, select = "vi", traits = 5) {
  as.data.frame(ask(profile_(run$pointer, as.integer(level), select, as.integer(traits))))
}

#' @rdname answers
#' @export
coppice_diagnostics <- function(run) as.data.frame(ask(diagnostics_(run$pointer)))

#' Write the report of a run
#'
#' One HTML file to look at and to share; it needs no network.
#'
#' @param run A `coppice_run`.
#' @param file File to write; an existing one is replaced.
#' @param ... Further arguments of methods.
#' @inheritParams answers
#' @return The name of the file, invisibly.
#' @examples
#' run <- coppice_fit("nrmm", faithful, chains = 2, warmup = 50, draws = 50)
#' report(run, tempfile(fileext = ".html"))
#' @export
report <- function(run, file, ...) UseMethod("report")

#' @rdname report
#' @export
report.coppice_run <- function(run, file, select = "vi", ...) {
  writeLines(ask(report_(run$pointer, select)), file, useBytes = TRUE)
  invisible(file)
}
