# From R's data frames to the columns of the engine, and from R's values to the texts that a user would type.

column_of <- function(name, x) {
  texts <- function(f) list(name = name, values = as.double(f) - 1, levels = levels(f))
  if (inherits(x, c("Date", "POSIXt"))) {
    form <- if (inherits(x, "Date")) "%Y-%m-%d" else "%Y-%m-%d %H:%M:%S"
    return(texts(factor(format(x, form))))
  }
  if (is.factor(x)) return(texts(droplevels(x)))
  if (is.character(x)) return(texts(factor(x, levels = unique(x[!is.na(x)]))))
  if (is.logical(x) || is.numeric(x)) return(list(name = name, values = as.double(x), levels = NULL))
  stop(sprintf("column '%s' is a %s; columns must be numbers, logicals, factors, texts or dates", name, class(x)[1]),
       call. = FALSE)
}

columns_of <- function(data) {
  if (is.matrix(data)) data <- as.data.frame(data)
  if (!is.data.frame(data)) stop("data must be a data frame or a matrix", call. = FALSE)
  if (ncol(data) == 0) stop("data has no columns", call. = FALSE)
  unname(Map(column_of, names(data), data))
}

row_names_of <- function(data) {
  names <- rownames(data)
  if (is.null(names)) as.character(seq_len(nrow(data))) else names
}

# A value as a user would type it after a flag of the command line.
as_typed <- function(value) {
  if (is.logical(value)) value <- ifelse(value, "true", "false")
  if (is.numeric(value)) value <- vapply(value, function(v) format(v, digits = 17, scientific = FALSE), "")
  paste(trimws(value), collapse = ",")
}

as_toml <- function(value) {
  if (is.matrix(value)) return(paste0("[", paste(apply(value, 1, as_toml), collapse = ", "), "]"))
  one <- function(v) {
    if (is.logical(v)) return(if (v) "true" else "false")
    if (is.numeric(v)) return(format(v, digits = 17))
    encodeString(v, quote = "\"")
  }
  parts <- vapply(value, one, "")
  if (length(parts) == 1) parts else paste0("[", paste(parts, collapse = ", "), "]")
}

# A factor whose levels look like numbers is still a factor.
codebook_of <- function(codebook, data) {
  if (is.character(codebook) && length(codebook) == 1) return(paste(readLines(codebook), collapse = "\n"))
  numeric_levels <- function(x) {
    is.factor(x) && nlevels(x) > 2 && !anyNA(suppressWarnings(as.numeric(levels(x))))
  }
  if (is.data.frame(data))
    for (name in names(data))
      if (numeric_levels(data[[name]]) && is.null(codebook[[name]])) codebook[[name]] <- list(kind = "category")
  entry <- function(name) {
    settings <- codebook[[name]]
    lines <- vapply(names(settings), function(key) paste(key, "=", as_toml(settings[[key]])), "")
    paste(c("[[column]]", paste("name =", as_toml(name)), lines), collapse = "\n")
  }
  paste(vapply(names(codebook), entry, ""), collapse = "\n")
}

typed_list <- function(values, to_text) {
  if (length(values) == 0) return(character())
  if (is.null(names(values)) || any(names(values) == "")) stop("settings must be named", call. = FALSE)
  vapply(values, to_text, "")
}

# Messages name settings and commands as the command line spells them; here they are arguments and functions.
in_r_words <- function(message) {
  message <- gsub("coppice resume RUN --draws \\+([0-9]+)", "coppice_resume() with \\1 more draws", message)
  message <- gsub("coppice resume( RUN)?", "coppice_resume()", message)
  flags <- gregexpr("--[a-z][a-z0-9-]*", message)
  regmatches(message, flags) <- lapply(regmatches(message, flags), function(flag) {
    gsub("-", "_", sub("^--", "", flag))
  })
  message
}

ask <- function(expression) {
  tryCatch(expression, error = function(e) stop(in_r_words(conditionMessage(e)), call. = FALSE))
}
