-- types whose objects were allocated most, by bytes
-- :top 20 how many
SELECT type_name, sum(objects) AS objects, sum(bytes) AS bytes
FROM allocations
GROUP BY type_name
ORDER BY bytes DESC, type_name
LIMIT :top;
