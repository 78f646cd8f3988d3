-- the longest compilations of functions
-- :top 20 how many
SELECT ts, dur, thread, function_id, function_name
FROM spans
WHERE role = 'compilation'
ORDER BY dur DESC, ts, id
LIMIT :top;
