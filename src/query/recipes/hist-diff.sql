-- durations of a function before and after, by powers of two: the first trace and the second
-- :name the function
SELECT low, high,
    sum(CASE WHEN trace = 1 THEN b.calls ELSE 0 END) AS calls_before,
    sum(CASE WHEN trace = 2 THEN b.calls ELSE 0 END) AS calls_after
FROM (
    SELECT trace, hist_merge(hist) AS hist FROM places WHERE name = :name GROUP BY trace
) AS h, hist_buckets(h.hist, 1) AS b
GROUP BY low, high
ORDER BY low;
-- ClickHouse: histograms have functions in files only
