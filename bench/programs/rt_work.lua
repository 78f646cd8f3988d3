-- What a recorded Lua does in the benchmark: calls, tables, strings, closures, coroutines, errors. Prints what it found.
local scale = tonumber(arg and arg[1]) or 1

local function fib(n)
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end
print("fib", fib(18 + math.floor(scale)))

local function sieve(n)
  local is, count = {}, 0
  for i = 2, n do is[i] = true end
  for i = 2, n do
    if is[i] then
      count = count + 1
      for j = i * i, n, i do is[j] = false end
    end
  end
  return count
end
print("sieve", sieve(20000 * scale))

local seed = 42
local function random()
  seed = (seed * 1103515245 + 12345) % 2147483648
  return seed
end
local t = {}
for i = 1, 5000 * scale do t[i] = random() end
table.sort(t)
table.sort(t, function(a, b) return a % 1000 < b % 1000 or (a % 1000 == b % 1000 and a < b) end)
print("sort", t[1], t[#t // 2], t[#t])

local words = {}
for i = 1, 2000 * scale do
  words[#words + 1] = string.format("%05d:%s", random() % 100000, string.rep("ab", random() % 7))
end
local text, n = table.concat(words, " "), 0
for word in text:gmatch("%d+:[ab]+") do
  n = n + #word:gsub("ab", "c"):upper():reverse()
end
print("text", #text, n)

local function tree(depth)
  if depth == 0 then return {} end
  return { tree(depth - 1), tree(depth - 1) }
end
local function size(node)
  return node[1] and 1 + size(node[1]) + size(node[2]) or 1
end
print("trees", size(tree(10 + math.floor(scale))))

local sum = 0
local numbers = coroutine.wrap(function()
  for i = 1, 5000 * scale do coroutine.yield(i) end
  return 0
end)
for _ = 1, 5000 * scale do sum = sum + numbers() end
print("coroutine", sum)

local caught = 0
local function fails(level)
  if level == 0 then error({ code = level }) end
  fails(level - 1)
  return level
end
for i = 1, 500 * scale do
  if not pcall(fails, i % 20) then caught = caught + 1 end
end
print("errors", caught)

local object = setmetatable({}, { __index = function(_, key) return #key end, __call = function(_, x) return x + 1 end })
local m = 0
for i = 1, 5000 * scale do m = object(m) + object["k" .. i % 100] end
print("metatables", m)
