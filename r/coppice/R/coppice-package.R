#' @keywords internal
#' @useDynLib coppice, .registration = TRUE
"_PACKAGE"
