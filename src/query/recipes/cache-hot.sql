-- instructions whose accesses miss a simulated cache most often
-- :cache 'l1d=64K:4:64,l2=512K:8:64' the caches
-- :top 20 how many
SELECT loads + stores AS misses, loads, stores, l2, pc, function_name, "offset"
FROM cache_misses(:cache)
ORDER BY misses DESC, pc
LIMIT :top;
-- ClickHouse
SELECT loads + stores AS misses, loads, stores, l2, pc, function_name, `offset`
FROM cache_misses
ORDER BY misses DESC, pc
LIMIT :top;
