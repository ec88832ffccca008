test_that("two groups are found in a frame with all kinds of columns", {
  v <- visitors()
  run <- short_fit(data = v$data)
  clusters <- coppice_clusters(run)
  expect_equal(rownames(clusters), rownames(v$data))
  expect_equal(length(unique(clusters$cluster)), 2)
  expect_equal(nrow(unique(cbind(clusters$cluster, v$truth))), 2)
  expect_true(all(clusters$confidence > 0.9))
  expect_match(summary(run)$family, "gaussian")
  expect_setequal(run$columns, names(v$data))
  expect_output(print(run), "<coppice_run> nrmm: 60 rows, 2 chains of 100 draws")
})

test_that("the same seed gives the same draws, also on one thread, and another seed others", {
  first <- coppice_draws(short_fit(seed = 5))
  expect_identical(first, coppice_draws(short_fit(seed = 5, threads = 1)))
  expect_false(identical(first, coppice_draws(short_fit(seed = 6))))
})

test_that("a stopped run resumes as if it had not been stopped", {
  whole <- coppice_fit("nrmm", faithful, chains = 2, warmup = 50, draws = 120)
  part <- coppice_fit("nrmm", faithful, chains = 2, warmup = 50, draws = 60)
  expect_identical(coppice_draws(coppice_resume(part, draws = 120)), coppice_draws(whole))
})

test_that("a time limit keeps what was drawn", {
  expect_warning(run <- coppice_fit("nrmm", faithful, chains = 2, warmup = 5, draws = 1e6, time_limit = 2),
                 "time limit reached after [0-9]+ of 1000000 draws")
  expect_gt(run$draws, 0)
})

test_that("run files are shared", {
  path <- tempfile(fileext = ".coppice")
  run <- short_fit(output = path)
  expect_identical(coppice_draws(coppice_open(path)), coppice_draws(run))
  expect_error(short_fit(output = path), "exists")
  short_fit(output = path, overwrite = TRUE)
})

test_that("settings come from the tables of the engine", {
  table <- coppice_models()
  expect_setequal(unique(table$model), c("nrmm", "rbhmc", "nhcm", "bhc", "bhcc", "crosscat", "bnmc"))
  expect_true("alpha_prior" %in% coppice_models("nrmm")$parameter)
  expect_error(coppice_models("nrm"), "there is no model 'nrm'")
  run <- short_fit(alpha_prior = c(2, 1), sampler = "gibbs")
  expect_s3_class(run, "coppice_run")
  expect_error(short_fit(sampler = "nuts"), "gibbs")
  expect_error(short_fit(alpa = 1), "nrmm has no parameter 'alpa'; did you mean 'alpha'?", fixed = TRUE)
  expect_error(short_fit(model = "nrm"), "did you mean 'nrmm'?", fixed = TRUE)
  expect_error(coppice_fit("nrmm", faithful, draws = 0), "draws takes")
})

test_that("kinds can be given, and numeric levels of a factor are levels", {
  data <- data.frame(x = c(1.5, 2.5, 9.5, 8.5, 1, 9), code = factor(c(3, 3, 7, 7, 5, 7)))
  run <- coppice_fit("nrmm", data, chains = 1, warmup = 5, draws = 5)
  expect_match(run$family, "categorical")
  counts <- coppice_fit("nrmm", data.frame(n = c(0L, 3L, 50L, 60L, 1L, 55L)), chains = 1, warmup = 5, draws = 5,
                        codebook = list(n = list(kind = "count", family = "poisson")))
  expect_match(counts$family, "poisson")
  known <- coppice_fit("nrmm", faithful, chains = 1, warmup = 5, draws = 5, family = "gaussian-diagonal",
                       family_settings = list(mean_strength = 0.1))
  expect_match(known$family, "gaussian-diagonal")
})

test_that("what cannot be a column is refused by its name", {
  expect_error(coppice_fit("nrmm", data.frame(x = 1:3, z = 1i * 1:3)), "column 'z' is a complex")
  expect_error(coppice_fit("nrmm", "table.csv"), "data must be a data frame")
  expect_error(coppice_fit("nrmm", data.frame(x = c(1, Inf, 2), y = 1:3)), "'x'")
})

test_that("rows may have weights", {
  data <- data.frame(colour = c("red", "green", "blue"), shape = c("round", "round", "flat"))
  run <- coppice_fit("bhc", data, weights = c(3, 1, 2))
  expect_match(paste(run$notes, collapse = " "), "3 rows count as 6")
  expect_error(coppice_fit("bhc", data, weights = c(3, 1.5, 2)), "not a whole number")
  expect_error(coppice_fit("bhc", data, weights = c(3, 1)), "2 weights where 3 rows")
  expect_error(coppice_fit("rbhmc", data, weights = c(3, 1, 2)), "takes no row weights")
})
