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
-- ClickHouse
-- :before the path of the first trace, as it was loaded
-- :after the path of the second one
SELECT if(bits = 0, 0, bitShiftLeft(toUInt64(1), bits - 1)) AS low,
    if(bits = 0, 0, bitShiftLeft(toUInt64(1), bits) - 1) AS high,
    sum(calls * first) AS calls_before, sum(calls * second) AS calls_after
FROM (
    SELECT calls, multiIf(bucket >= 256, toUInt32(intDiv(bucket, 256) + 8), bucket > 0,
        toUInt32(floor(log2(bucket) + 0.001) + 1), toUInt32(0)) AS bits,
        trace IN (SELECT trace FROM traces WHERE path = :before) AS first,
        trace IN (SELECT trace FROM traces WHERE path = :after) AS second
    FROM (
        SELECT trace, place_id, calls, assumeNotNull(bucket) AS bucket
        FROM profile
        WHERE bucket IS NOT NULL
    ) AS p JOIN (
        SELECT trace, place_id
        FROM places
        WHERE name = :name
    ) AS n USING (trace, place_id)
)
WHERE first OR second
GROUP BY bits
ORDER BY bits;
