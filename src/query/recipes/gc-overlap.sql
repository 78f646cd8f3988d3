-- compilations and calls that lie in a collection, and how much of them
-- :top 20 how many
SELECT w.name, w.thread, w.ts, w.dur, overlap(w.ts, w.end_ts, g.ts, g.end_ts) AS in_pause, g.generations
FROM (
    SELECT trace, id, ts, dur, end_ts, thread, name FROM slices WHERE category = 'call'
    UNION ALL
    SELECT trace, id, ts, dur, end_ts, thread, coalesce(function_name, name) FROM spans WHERE role <> 'collection'
) AS w CROSS JOIN collections AS g
WHERE g.trace = w.trace AND w.ts < g.end_ts AND w.end_ts > g.ts
ORDER BY in_pause DESC, w.ts, w.id, g.ts
LIMIT :top;
-- ClickHouse
SELECT w.name, w.thread, w.ts, w.dur, least(w.end_ts, g.end_ts) - greatest(w.ts, g.ts) AS in_pause, g.generations
FROM (
    SELECT trace, id, ts, dur, end_ts, thread, name FROM slices WHERE category = 'call'
    UNION ALL
    SELECT trace, id, ts, dur, end_ts, thread, coalesce(function_name, name) AS name FROM spans WHERE role <> 'collection'
) AS w CROSS JOIN collections AS g
WHERE g.trace = w.trace AND w.ts < g.end_ts AND w.end_ts > g.ts
ORDER BY in_pause DESC, w.ts, w.id, g.ts
LIMIT :top;
