-- what was lost, damaged or not finished, of all inputs; the table damage has the places
SELECT path, what, n
FROM losses JOIN traces USING (trace)
ORDER BY trace, what;
