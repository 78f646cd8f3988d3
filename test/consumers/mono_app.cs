// The program that mono.sh records. It prints what it did, for the test to compare: a line "name value" each.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;

namespace App
{
    class Node
    {
        public Node left, right;
        public long value;
    }

    class Kept
    {
        public long a;
    }

    static class Work
    {
        // Most of the processor time goes here.
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static uint Hot(uint seed, int rounds)
        {
            for (int i = 0; i < rounds; i++)
                seed = seed * 1664525 + 1013904223;
            return seed;
        }

        // And a quarter of that here.
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static uint Warm(uint seed, int rounds)
        {
            for (int i = 0; i < rounds; i++)
                seed = seed * 22695477 + 1;
            return seed;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static Node Plant(int n)
        {
            Node last = null;
            for (int i = 0; i < n; i++)
                last = new Node { left = last, value = i };
            return last;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static Node Graft(int n)
        {
            Node last = null;
            for (int i = 0; i < n; i++)
                last = new Node { right = last, value = i };
            return last;
        }
    }

    static class Program
    {
        const int Runs = 2, Rounds = 20, Planted = 1000, Grafted = 500, KeptObjects = 1500;
        static int result; // so that nothing is optimised away

        static void Run()
        {
            for (int i = 0; i < Rounds; i++) {
                result |= (int)(Work.Hot((uint)i, 16000000) + Work.Warm((uint)i, 4000000));
                if (Work.Plant(Planted).value + Work.Graft(Grafted).value < 0)
                    throw new Exception();
            }
        }

        static int Main()
        {
            var kept = new List<Kept>();
            for (int i = 0; i < KeptObjects; i++)
                kept.Add(new Kept { a = i });
            var other = new Thread(Run);
            other.Start();
            for (int i = 0; i < 3; i++) {
                Thread.Sleep(20);
                GC.Collect(0);
            }
            Run();
            other.Join();
            GC.Collect();
            GC.Collect();
            int minor = GC.CollectionCount(0), major = GC.CollectionCount(1);
            Console.WriteLine("minor {0}", minor);
            Console.WriteLine("major {0}", major);
            Console.WriteLine("planted {0}", Runs * Rounds * Planted);
            Console.WriteLine("grafted {0}", Runs * Rounds * Grafted);
            Console.WriteLine("kept {0}", kept.Count);
            return result == 0 ? 1 : 0;
        }
    }
}
