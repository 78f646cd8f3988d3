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
