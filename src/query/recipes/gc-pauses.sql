-- garbage collections, and how long the program stood
-- :top 20 how many
SELECT ts, dur, thread, generations, reason
FROM collections
ORDER BY dur DESC, ts
LIMIT :top;
