-- stacks at which most bytes were allocated
-- :top 20 how many
SELECT path, sum(objects) AS objects, sum(bytes) AS bytes
FROM allocations
GROUP BY path
ORDER BY bytes DESC, path
LIMIT :top;
