-- functions: calls, times, percentiles
-- :top 20 how many
SELECT name, calls, total, self, min_dur, p50, p90, p99, max_dur
FROM function_stats
ORDER BY self DESC, name
LIMIT :top;
