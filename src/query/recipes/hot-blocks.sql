-- basic blocks in which most instructions were executed
-- :top 20 how many
SELECT executions * length AS instructions, executions, length, start, function_name, "offset"
FROM blocks
ORDER BY instructions DESC, start
LIMIT :top;
