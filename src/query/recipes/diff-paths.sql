-- stacks before and after: the first trace and the second
-- :top 20 how many
SELECT path,
    sum(CASE WHEN trace = 1 THEN calls ELSE 0 END) AS calls_before,
    sum(CASE WHEN trace = 2 THEN calls ELSE 0 END) AS calls_after,
    sum(CASE WHEN trace = 1 THEN self ELSE 0 END) AS self_before,
    sum(CASE WHEN trace = 2 THEN self ELSE 0 END) AS self_after
FROM places
GROUP BY path
ORDER BY abs(sum(CASE WHEN trace = 2 THEN self ELSE -self END)) DESC, path
LIMIT :top;
-- ClickHouse
-- :before the path of the first trace, as it was loaded
-- :after the path of the second one
SELECT path, sum(calls * first) AS calls_before, sum(calls * second) AS calls_after, sum(self * first) AS self_before,
    sum(self * second) AS self_after
FROM (
    SELECT path, calls, self, trace IN (SELECT trace FROM traces WHERE path = :before) AS first,
        trace IN (SELECT trace FROM traces WHERE path = :after) AS second
    FROM places
)
WHERE first OR second
GROUP BY path
ORDER BY abs(self_after - self_before) DESC, path
LIMIT :top;
