-- the longest times in which a thread was in no call
-- :min 1ms the shortest of them
-- :top 20 how many
SELECT thread, idle, ts AS until
FROM (
    SELECT thread, ts, ts - lag(end_ts) OVER (PARTITION BY trace, track_id ORDER BY ts) AS idle
    FROM calls
    WHERE depth = 1
)
WHERE idle >= :min
ORDER BY idle DESC, until
LIMIT :top;
-- ClickHouse
SELECT thread, idle, until
FROM (
    SELECT thread, arrayPopFront(groupArray(ts)) AS begins, arrayPopBack(groupArray(end_ts)) AS ends
    FROM (
        SELECT trace, track_id, thread, assumeNotNull(ts) AS ts, ifNull(end_ts, toInt64(4611686018427387903)) AS end_ts
        FROM calls
        WHERE depth = 1 AND ts IS NOT NULL
        ORDER BY trace, track_id, ts
    )
    GROUP BY trace, track_id, thread
)
ARRAY JOIN arrayMap((begin, end) -> begin - end, begins, ends) AS idle, begins AS until
WHERE idle >= :min
ORDER BY idle DESC, until
LIMIT :top;
