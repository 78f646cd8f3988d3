-- processor time that each thread used, as far as it was measured
-- :step 1s the length of a step; an interval belongs to the one in which it began
SELECT floor_to(ts, :step) AS step, thread, CAST(round(sum(value / 100 * (until - ts))) AS INTEGER) AS used
FROM (
    SELECT ts, thread, trace, track_id, value, lead(ts) OVER (PARTITION BY trace, track_id ORDER BY ts) AS until
    FROM counters
    WHERE name = 'CPU'
)
WHERE until IS NOT NULL
GROUP BY step, trace, track_id
ORDER BY step, trace, track_id;
