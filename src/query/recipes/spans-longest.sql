-- the longest spans: where and when
-- :name '*' spans whose name matches
-- :top 20 how many
SELECT ts, dur, thread, name, function_name
FROM spans
WHERE name GLOB :name
ORDER BY dur DESC, ts, id
LIMIT :top;
-- ClickHouse
SELECT ts, dur, thread, name, function_name
FROM spans
WHERE match(name, glob(:name))
ORDER BY dur DESC, ts, id
LIMIT :top;
