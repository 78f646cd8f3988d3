// The program that dotnet.py records: calls, or objects, and nothing else.
using System;
using System.Runtime.CompilerServices;

class Node
{
    public Node left, right;
    public long value;
}

static class Program
{
    static Node kept;

    static int Fib(int n)
    {
        return n < 2 ? n : Fib(n - 1) + Fib(n - 2);
    }

    // A list that a thousand objects are linked to: most die young, as they do.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Make(int n)
    {
        for (int i = 0; i < n; i++)
            kept = new Node { left = i % 1000 == 0 ? null : kept, value = i };
    }

    // Objects that the program does something with: a tree is made, and searched.
    static Node Insert(Node tree, long value)
    {
        if (tree == null)
            return new Node { value = value };
        return value < tree.value ? new Node { left = Insert(tree.left, value), right = tree.right, value = tree.value }
                                  : new Node { left = tree.left, right = Insert(tree.right, value), value = tree.value };
    }

    static void Trees(int n)
    {
        uint seed = 1;
        for (int i = 0; i < n; i++) {
            seed = seed * 1664525 + 1013904223;
            kept = Insert(i % 1000 == 0 ? null : kept, seed);
        }
    }

    static int Main(string[] words)
    {
        int n = int.Parse(words[1]);
        if (words[0] == "fib")
            return Fib(n) == -1 ? 1 : 0;
        if (words[0] == "trees")
            Trees(n);
        else
            Make(n);
        return 0;
    }
}
