# Two groups that no one can miss, with every kind of column and missing cells.
visitors <- function(rows = 60) {
  set.seed(4)
  late <- seq_len(rows) %% 2 == 0
  data <- data.frame(
    minutes = ifelse(late, 200, 60) + stats::rnorm(rows, sd = 8),
    visits = as.integer(stats::rpois(rows, ifelse(late, 12, 2))),
    member = late == (stats::runif(rows) < 0.9),
    hall = factor(ifelse(late, sample(c("ships", "space"), rows, TRUE), sample(c("minerals", "dinosaurs"), rows, TRUE))),
    came = as.Date("2024-01-01") + ifelse(late, 200, 0) + sample(30, rows, TRUE),
    row.names = sprintf("v%02d", seq_len(rows))
  )
  data$minutes[3] <- NA
  data$hall[7] <- NA
  data$member[9] <- NA
  list(data = data, truth = late)
}

short_fit <- function(..., data = visitors()$data, model = "nrmm") {
  coppice_fit(model, data, ..., chains = 2, warmup = 50, draws = 100)
}
