#' Methods for runs
#'
#' `predict()` says where new rows belong, `summary()` begins with a verdict on whether the run can be trusted, and
#' `as.hclust()` and `as.dendrogram()` give the tree over the rows: that of a greedy model, else the average-linkage tree of
#' co-clustering. `plot()` draws that tree, the matrix of co-clustering, or the traces of the chains. With the package
#' posterior, `as_draws()` and its variants give the traces.
#'
#' @param object,x A `coppice_run`.
#' @param newdata A data frame with the columns of the fit, in any order.
#' @param type Of `predict()`: the cluster (`NA`: none of them), the probabilities (the last column: a new cluster), or the
#'   log density of each row. Of `plot()`: `"tree"`, `"coclustering"` or `"traces"`.
#' @param level Level of the hierarchy, 1 is the coarsest. For trees of sampled models 0 is the average of all levels.
#' @param select The loss of the point estimate, `"vi"` or `"binder"`.
#' @param threads Number of threads; 0 for all cores.
#' @param ... Further arguments, for the plots those of the plotting functions.
#' @return `predict()`: a factor-like vector of clusters, a matrix or a numeric vector. `summary()`: a list with a print
#'   method. `as.hclust()`: an `hclust`. `plot()`: the run, invisibly.
#' @examples
#' run <- coppice_fit("nrmm", faithful, chains = 2, warmup = 50, draws = 50)
#' summary(run)
#' predict(run, data.frame(eruptions = c(2, 4.5), waiting = c(50, 80)))
#' plot(as.hclust(run), labels = FALSE)
#' @name methods
NULL

#' @rdname methods
#' @export
print.coppice_run <- function(x, ...) {
  cat(sprintf("<coppice_run> %s: %d rows, %d chains of %d draws\n%s\n", x$model, x$rows, x$chains, x$draws,
              in_r_words(x$verdict)))
  invisible(x)
}

#' @rdname methods
#' @importFrom stats predict
#' @export
predict.coppice_run <- function(object, newdata, type = c("cluster", "probability", "density"), level = 1,
                                select = "vi", threads = 0, ...) {
  type <- match.arg(type)
  if (is.matrix(newdata)) newdata <- as.data.frame(newdata)
  absent <- setdiff(object$columns, names(newdata))
  if (length(absent) > 0) stop(sprintf("newdata has no column '%s'", absent[1]), call. = FALSE)
  newdata <- newdata[object$columns]
  answer <- ask(predict_(object$pointer, columns_of(newdata), row_names_of(newdata), as.integer(level), select,
                         as.integer(threads)))
  names <- row_names_of(newdata)
  if (type == "cluster") return(stats::setNames(answer$cluster, names))
  if (type == "density") return(stats::setNames(answer$log_density, names))
  dimnames(answer$probabilities) <- list(names, c(seq_len(ncol(answer$probabilities) - 1), "new"))
  answer$probabilities
}

#' @rdname methods
#' @export
summary.coppice_run <- function(object, level = 1, select = "vi", ...) {
  structure(list(model = object$model, rows = object$rows, columns = object$columns, family = object$family,
                 chains = object$chains, draws = object$draws, trusted = object$trusted,
                 verdict = in_r_words(object$verdict), inexactness_note = in_r_words(object$inexactness_note),
                 clusters = object$clusters, profile = coppice_profile(object, level, select, 3),
                 diagnostics = coppice_diagnostics(object)),
            class = "summary.coppice_run")
}

#' @rdname methods
#' @export
print.summary.coppice_run <- function(x, ...) {
  if (nzchar(x$inexactness_note)) cat(x$inexactness_note, "\n", sep = "")
  cat(x$verdict, "\n\n", sep = "")
  cat(sprintf("%s: %d rows, %d columns (%s)\n", x$model, x$rows, length(x$columns), x$family))
  cat(sprintf("clusters: %s on average\n\n", paste(format(x$clusters, digits = 2), collapse = ", ")))
  print(x$profile, row.names = FALSE, right = FALSE)
  invisible(x)
}

#' @rdname methods
#' @importFrom stats as.hclust
#' @export
as.hclust.coppice_run <- function(x, level = 0, ...) {
  merges <- ask(linkage_(x$pointer, as.integer(level)))
  rows <- x$rows
  # SciPy counts rows from 0 and then merges; R has rows negative and merges positive, both from 1.
  number <- function(id) ifelse(id < rows, -(id + 1), id - rows + 1)
  merge <- cbind(number(merges[, 1]), number(merges[, 2]))
  storage.mode(merge) <- "integer"
  tree <- list(merge = merge, height = merges[, 3], order = leaf_order(merge), labels = x$row_names,
               method = paste("coppice", x$model), call = match.call(), dist.method = "co-clustering")
  structure(tree, class = "hclust")
}

# The rows from left to right, so that no branches cross.
leaf_order <- function(merge) {
  members <- vector("list", nrow(merge))
  of <- function(id) if (id < 0) -id else members[[id]]
  for (i in seq_len(nrow(merge))) members[[i]] <- c(of(merge[i, 1]), of(merge[i, 2]))
  as.integer(members[[nrow(merge)]])
}

#' @rdname methods
#' @importFrom stats as.dendrogram
#' @export
as.dendrogram.coppice_run <- function(object, level = 0, ...) {
  stats::as.dendrogram(as.hclust.coppice_run(object, level = level), ...)
}

#' @rdname methods
#' @importFrom graphics plot
#' @export
plot.coppice_run <- function(x, type = c("tree", "coclustering", "traces"), level = 1, ...) {
  type <- match.arg(type)
  if (type == "tree") {
    graphics::plot(as.hclust.coppice_run(x), main = x$model, xlab = "", sub = "", ...)
  } else if (type == "coclustering") {
    order <- as.hclust.coppice_run(x)$order
    together <- coppice_coclustering(x, level)[order, rev(order)]
    graphics::image(together, col = grDevices::hcl.colors(64, "Blues", rev = TRUE), zlim = c(0, 1), axes = FALSE,
                    main = "co-clustering probability", ...)
  } else {
    values <- traces_(x$pointer)
    before <- graphics::par(mfrow = c(length(values), 1), mar = c(2, 4, 1, 1))
    on.exit(graphics::par(before))
    for (name in names(values))
      graphics::matplot(values[[name]], type = "l", lty = 1, ylab = name, xlab = "draw", ...)
  }
  invisible(x)
}

as_draws_array_of <- function(run) {
  values <- traces_(run$pointer)
  array <- array(unlist(values), c(run$draws, run$chains, length(values)), list(NULL, NULL, names(values)))
  posterior::as_draws_array(array)
}

# Registered when the package is loaded, if posterior is installed.
as_draws.coppice_run <- function(x, ...) as_draws_array_of(x)
as_draws_array.coppice_run <- function(x, ...) as_draws_array_of(x)
as_draws_df.coppice_run <- function(x, ...) posterior::as_draws_df(as_draws_array_of(x))
as_draws_matrix.coppice_run <- function(x, ...) posterior::as_draws_matrix(as_draws_array_of(x))

.onLoad <- function(libname, pkgname) {
  if (!requireNamespace("posterior", quietly = TRUE)) return()
  for (generic in c("as_draws", "as_draws_array", "as_draws_df", "as_draws_matrix"))
    registerS3method(generic, "coppice_run", get(paste0(generic, ".coppice_run")), envir = asNamespace("posterior"))
}
