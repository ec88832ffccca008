test_that("draws, co-clustering and membership agree with each other", {
  run <- short_fit()
  draws <- coppice_draws(run)
  expect_equal(dim(draws), c(200, 60))
  expect_true(is.integer(draws) && min(draws) == 1L)
  together <- coppice_coclustering(run)
  i <- 4; j <- 11; k <- 12
  expect_equal(together[i, j], mean(draws[, i] == draws[, j]))
  expect_equal(together[i, k], mean(draws[, i] == draws[, k]))
  expect_equal(together, t(together))
  membership <- coppice_membership(run)
  expect_equal(unname(rowSums(membership)), rep(1, 60))
  expect_equal(max.col(membership), coppice_clusters(run)$cluster)
})

test_that("trees become hclust and dendrogram", {
  v <- visitors()
  run <- short_fit(data = v$data)
  tree <- as.hclust(run)
  expect_s3_class(tree, "hclust")
  expect_setequal(tree$order, 1:60)
  expect_equal(nrow(unique(cbind(cutree(tree, 2), v$truth))), 2)
  expect_equal(attr(as.dendrogram(run), "members"), 60)
  # The height of co-clustering is one minus its probability, here by R's own average linkage.
  own <- hclust(as.dist(1 - coppice_coclustering(run)), "average")
  expect_equal(sort(tree$height), sort(own$height), tolerance = 1e-8)
  greedy <- coppice_fit("bhc", faithful[1:40, ])
  expect_equal(length(as.hclust(greedy)$height), 39)
})

test_that("new rows are predicted", {
  v <- visitors()
  run <- short_fit(data = v$data)
  rows <- v$data[c(2, 1, 4), rev(names(v$data))]
  probability <- predict(run, rows, "probability")
  expect_equal(unname(rowSums(probability)), rep(1, 3))
  expect_equal(rownames(probability), rownames(rows))
  clusters <- predict(run, rows)
  expect_equal(unname(clusters), coppice_clusters(run)$cluster[c(2, 1, 4)])
  # Each row is judged alone.
  expect_equal(predict(run, rows[2, ], "density"), predict(run, rows, "density")[2])
  expect_error(predict(run, rows["minutes"]), "newdata has no column 'visits'")
})

test_that("summaries begin with the verdict", {
  run <- short_fit()
  expect_output(print(summary(run)), "^(Trust it|Do not trust it)")
  profile <- coppice_profile(run)
  expect_equal(sum(profile$rows), 60)
  diagnostics <- coppice_diagnostics(run)
  expect_true(all(c("trace", "rhat", "ess_bulk") %in% names(diagnostics)))
})

test_that("posterior takes the traces", {
  skip_if_not_installed("posterior")
  run <- short_fit()
  draws <- posterior::as_draws(run)
  expect_equal(posterior::nchains(draws), 2)
  own <- posterior::summarise_draws(draws, posterior::rhat)
  ours <- coppice_diagnostics(run)
  shared <- is.finite(ours$rhat)
  expect_equal(as.numeric(own$`posterior::rhat`)[shared], ours$rhat[shared], tolerance = 1e-6)
})

test_that("plots and the report are drawn", {
  run <- short_fit()
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (type in c("tree", "coclustering", "traces")) expect_identical(plot(run, type), run)
  path <- tempfile(fileext = ".html")
  report(run, path)
  expect_match(readLines(path, n = 1), "<!doctype html>", ignore.case = TRUE)
})

test_that("a hierarchy has levels", {
  run <- short_fit(model = "rbhmc", penalty = 0)
  expect_gt(run$levels, 1)
  coarse <- coppice_clusters(run, 1)$cluster
  fine <- coppice_clusters(run, 2)$cluster
  expect_equal(nrow(unique(cbind(coarse, fine))), length(unique(fine)))
  expect_error(coppice_clusters(run, 9), "level")
})

test_that("a run of another session asks to be opened", {
  run <- short_fit()
  path <- tempfile(fileext = ".rds")
  saveRDS(run, path)
  expect_error(coppice_clusters(readRDS(path)), "coppice_open")
})
