-- the longest calls: where and when
-- :name '*' functions whose name matches
-- :top 20 how many
SELECT ts, dur, self, thread, name, path
FROM calls
WHERE name GLOB :name
ORDER BY dur DESC, ts
LIMIT :top;
