// The programs that dotnet_record.py records: the first word chooses one. Each prints what it did, a line "name value".
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

namespace Told
{
    // Calls of all kinds, of known numbers.
    static class Calls
    {
        static int Fib(int n)
        {
            return n < 2 ? n : Fib(n - 1) + Fib(n - 2);
        }

        static int Down(int n)
        {
            if (n == 0)
                throw new InvalidOperationException();
            return Down(n - 1) + 1;
        }

        static int Catch(int n)
        {
            try {
                return Down(n);
            } catch (InvalidOperationException) {
                return After();
            } finally {
                Finally();
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static int After()
        {
            return 1;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Finally()
        {
        }

        static IEnumerable<int> Items(int n)
        {
            for (int i = 0; i < n; i++)
                yield return i;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static T Same<T>(T x)
        {
            return x;
        }

        static async Task<int> Later(int n)
        {
            await Task.Yield();
            return n;
        }

        static void Work()
        {
            for (int i = 0; i < 100; i++)
                Fib(10);
        }

        // What is passed and returned in registers of all kinds.
        struct Pair
        {
            public long a, b;
        }

        struct Odd
        {
            public long a;
            public double b;
        }

        struct Two
        {
            public double a, b;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static Pair MakePair(long a, long b, long c, long d, long e, long f, long g)
        {
            return new Pair { a = a + 2 * b + 3 * c, b = d + 2 * e + 3 * f + 4 * g };
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static Odd MakeOdd(long a, double x, long b, double y)
        {
            return new Odd { a = a + 2 * b, b = x + 2 * y };
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static Two MakeTwo(double a, double b, double c, double d, double e, double f, double g, double h)
        {
            return new Two { a = a + 2 * b + 3 * c + 4 * d, b = e + 2 * f + 3 * g + 4 * h };
        }

        static long Mixed()
        {
            long sum = 0;
            for (int i = 0; i < 300; i++) {
                Pair pair = MakePair(i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6);
                Odd odd = MakeOdd(pair.a, i + 0.5, pair.b, i + 1.5);
                Two two = MakeTwo(i, odd.b, i + 2, odd.a, i + 4, i + 5, i + 6, i + 7);
                sum += pair.a + 2 * pair.b + 3 * odd.a + (long)(4 * odd.b + 5 * two.a + 6 * two.b);
            }
            return sum;
        }

        public static void Run()
        {
            int sum = Fib(20), later = 0;
            for (int i = 0; i < 50; i++)
                sum += Catch(100);
            foreach (int item in Items(1000))
                sum += item;
            for (int i = 0; i < 300; i++) {
                Same(i);
                Same(1.5);
            }
            var threads = new Thread[4];
            for (int i = 0; i < threads.Length; i++)
                (threads[i] = new Thread(Work)).Start();
            foreach (Thread thread in threads)
                thread.Join();
            for (int i = 0; i < 20; i++)
                later += Later(i).Result;
            Console.WriteLine("sum {0}", sum);
            Console.WriteLine("later {0}", later);
            Console.WriteLine("mixed {0}", Mixed());
        }
    }

    // Two threads do rounds of A, B and C, whose work is 6 : 3 : 1.
    static class Shares
    {
        static uint result;

        [MethodImpl(MethodImplOptions.NoInlining)]
        static uint A(uint seed)
        {
            for (int i = 0; i < 600000; i++)
                seed = seed * 1664525 + 1013904223;
            return seed;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static uint B(uint seed)
        {
            for (int i = 0; i < 300000; i++)
                seed = seed * 1664525 + 1013904223;
            return seed;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static uint C(uint seed)
        {
            for (int i = 0; i < 100000; i++)
                seed = seed * 1664525 + 1013904223;
            return seed;
        }

        static void Rounds()
        {
            for (uint i = 0; i < 800; i++)
                result |= C(B(A(i)));
        }

        public static void Run()
        {
            var other = new Thread(Rounds);
            other.Start();
            Rounds();
            other.Join();
            Console.WriteLine("done {0}", result != 0);
        }
    }

    // Objects of known numbers and sizes, of two threads.
    static class Objects
    {
        class Small
        {
            public object a, b;
        }

        class Large
        {
            public long a, b, c, d, e, f, g, h, i, j, k, l, m, n;
        }

        struct Item
        {
            public long a;
        }

        const int Smalls = 300000, Larges = 60000, Arrays = 3000, ArrayBytes = 4000;
        static object kept;

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void MakeSmall()
        {
            for (int i = 0; i < Smalls; i++)
                kept = new Small { a = kept is Small ? null : kept, b = null };
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void MakeLarge()
        {
            for (int i = 0; i < Larges; i++)
                kept = new Large { a = i };
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void MakeArrays()
        {
            for (int i = 0; i < Arrays; i++)
                kept = new Item[ArrayBytes / 8];
        }

        static void Make()
        {
            MakeSmall();
            MakeLarge();
            MakeArrays();
        }

        public static void Run()
        {
            var other = new Thread(Make);
            other.Start();
            Make();
            other.Join();
            Console.WriteLine("Told.Objects.Small {0}", 2 * Smalls);
            Console.WriteLine("Told.Objects.Large {0}", 2 * Larges);
            Console.WriteLine("Told.Objects.Item[] {0}", 2 * Arrays);
        }
    }

    // Until it is killed.
    static class Endless
    {
        class Link
        {
            public Link next;
        }

        static Link kept;

        static void Turn()
        {
            for (;;) {
                kept = new Link { next = null };
                for (int i = 0; i < 1000; i++)
                    kept = new Link { next = kept };
            }
        }

        public static void Run()
        {
            new Thread(Turn).Start();
            Console.WriteLine("running");
            Turn();
        }
    }

    // What a recorder might disturb: signals, children, deep stacks.
    static class System_
    {
        delegate void Handler(int number);

        [DllImport("libc")]
        static extern IntPtr signal(int number, Handler handler);
        [DllImport("libc")]
        static extern int raise(int number);
        [DllImport("libc")]
        static extern int fork();
        [DllImport("libc")]
        static extern void _exit(int status);
        [DllImport("libc")]
        static extern int waitpid(int pid, out int status, int options);

        const int Profiling = 27;
        static int signals;

        static int Deep(int n)
        {
            return n == 0 ? 0 : Deep(n - 1) + 1;
        }

        static int Parent(Handler counted)
        {
            int status, pid = fork();
            if (pid == 0)
                _exit(Deep(100) == 100 ? 7 : 8);
            waitpid(pid, out status, 0);
            GC.KeepAlive(counted);
            return status >> 8;
        }

        public static void Run()
        {
            Handler counted = number => signals++;
            signal(Profiling, counted);
            int deep = 0;
            for (int i = 0; i < 200; i++) {
                raise(Profiling);
                deep += Deep(5000);
            }
            Console.WriteLine("signals {0}", signals);
            Console.WriteLine("deep {0}", deep);
            Console.WriteLine("forked {0}", Parent(counted));
            var start = new ProcessStartInfo("/bin/echo", "child") { UseShellExecute = false, RedirectStandardOutput = true };
            using (Process child = Process.Start(start))
                Console.WriteLine("started {0}", child.StandardOutput.ReadToEnd().Trim());
            for (int i = 0; i < 300; i++)
                new Thread(() => Deep(10)).Start();
            Thread.Sleep(100);
            Environment.Exit(3);
        }
    }

    // Makes objects, and prints how many of each class, and their bytes on a 64-bit host.
    static class Made
    {
        const int Threads = 4, Turns = 1000, Depth = 15;

        class Item
        {
            public long value;
        }

        class Leaf
        {
            public object next;
        }

        class Pair<A, B>
        {
            public A first;
            public B second;
        }

        static object kept;
        static int visited;

        static void Turn()
        {
            for (int i = 0; i < Turns; i++) {
                kept = new Item { value = i };
                kept = new Pair<int, Item> { first = i, second = null };
                kept = new long[i % 10];
                kept = new Item[3];
                kept = new int[2, 3];
            }
        }

        // As many stacks as objects.
        static void Left(int depth)
        {
            kept = new Leaf { next = null };
            if (depth > 0) {
                Left(depth - 1);
                Right(depth - 1);
            }
            visited++;
        }

        static void Right(int depth)
        {
            kept = new Leaf { next = null };
            if (depth > 0) {
                Left(depth - 1);
                Right(depth - 1);
            }
            visited++;
        }

        public static void Run()
        {
            int head = 16, array = Type.GetType("Mono.Runtime") != null ? 32 : 24, all = Threads * Turns;
            var threads = new Thread[Threads];
            for (int i = 0; i < threads.Length; i++)
                (threads[i] = new Thread(Turn)).Start();
            foreach (Thread thread in threads)
                thread.Join();
            Left(Depth);
            Console.WriteLine("Told.Made.Item {0} {1}", all, all * (head + 8));
            Console.WriteLine("Told.Made.Pair<System.Int32,Told.Made.Item> {0} {1}", all, all * (head + 16));
            Console.WriteLine("Told.Made.Item[] {0} {1}", all, all * (array + 3 * 8));
            Console.WriteLine("Told.Made.Leaf {0} {1}", visited, visited * (head + 8));
            Console.WriteLine("System.Int64[] {0} {1}", all, all * array + all / 10 * 45 * 8);
            Console.WriteLine("System.Int32[,] {0} {1}", all, all * (array + 16 + 6 * 4));
            GC.KeepAlive(kept);
        }
    }

    // Keeps objects over collections, and lets some go; some are of an assembly that can be unloaded.
    static class Living
    {
        class Kept
        {
            public long value;
        }

        class Gone
        {
            public long value;
        }

        static object[] kept, gone, emitted;

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Make()
        {
            var module = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName("emitted"), AssemblyBuilderAccess.RunAndCollect).DefineDynamicModule("emitted");
            Type made = module.DefineType("Emitted", TypeAttributes.Public).CreateType();
            kept = new object[1500];
            gone = new object[500];
            emitted = new object[70];
            for (int i = 0; i < kept.Length; i++)
                kept[i] = new Kept { value = i };
            for (int i = 0; i < gone.Length; i++)
                gone[i] = new Gone { value = i };
            for (int i = 0; i < emitted.Length; i++)
                emitted[i] = Activator.CreateInstance(made);
        }

        public static void Run()
        {
            Make();
            GC.Collect();
            gone = null;
            GC.Collect(0); // has no snapshot
            Thread.Sleep(1100);
            GC.Collect();
            Console.WriteLine("kept {0}", kept.Length);
            Console.WriteLine("emitted {0}", emitted.Length);
        }
    }

    // Many threads at once.
    static class Crowd
    {
        class Member
        {
            public long a;
        }

        const int Threads = 500, Members = 200;
        static readonly ManualResetEvent gate = new ManualResetEvent(false);
        static int here;
        static uint result;

        static int Deep(int n)
        {
            return n == 0 ? 0 : Deep(n - 1) + 1;
        }

        static void Work()
        {
            Interlocked.Increment(ref here);
            gate.WaitOne();
            uint seed = (uint)Deep(100);
            Member last = null;
            for (int i = 0; i < Members; i++)
                last = new Member { a = i };
            for (int i = 0; i < 2000000; i++)
                seed = seed * 1664525 + 1013904223;
            result |= seed + (uint)last.a;
        }

        public static void Run()
        {
            var threads = new Thread[Threads];
            for (int i = 0; i < Threads; i++)
                (threads[i] = new Thread(Work, 256 * 1024)).Start();
            while (Thread.VolatileRead(ref here) < Threads)
                Thread.Sleep(1);
            gate.Set();
            foreach (Thread thread in threads)
                thread.Join();
            Console.WriteLine("threads {0}", Threads);
            Console.WriteLine("members {0}", Threads * Members);
            foreach (string line in System.IO.File.ReadAllLines("/proc/self/status"))
                if (line.StartsWith("VmHWM:"))
                    Console.WriteLine("peak {0}", line.Substring(6).Trim().Split(' ')[0]);
        }
    }

    // Does something at each line of its input.
    static class Phases
    {
        class First
        {
            public long a;
        }

        class Second
        {
            public long a;
        }

        class Third
        {
            public long a;
        }

        static object kept;

        static uint Work(uint seed)
        {
            for (int i = 0; i < 100000000; i++)
                seed = seed * 1664525 + 1013904223;
            return seed;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static uint DoFirst()
        {
            for (int i = 0; i < 1000; i++)
                kept = new First { a = i };
            return Work(1);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static uint DoSecond()
        {
            for (int i = 0; i < 1000; i++)
                kept = new Second { a = i };
            return Work(2) + Work(3) + Work(4) + Work(5);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static uint DoThird()
        {
            for (int i = 0; i < 1000; i++)
                kept = new Third { a = i };
            return Work(3);
        }

        public static void Run()
        {
            foreach (Func<uint> phase in new Func<uint>[] { DoFirst, DoSecond, DoThird }) {
                Console.WriteLine("ready");
                Console.ReadLine();
                phase();
                GC.Collect();
            }
        }
    }

    // Waits in several ways.
    static class Waiting
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Sleep()
        {
            Thread.Sleep(500);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Join(Thread other)
        {
            other.Join();
        }

        public static void Run()
        {
            var clock = Stopwatch.StartNew();
            var other = new Thread(Sleep);
            other.Start();
            Join(other);
            Console.WriteLine("waited {0}", clock.ElapsedMilliseconds >= 500);
        }
    }

    // Blocks all signals, and works for a while.
    static class Deaf
    {
        [DllImport("libc")]
        static extern int pthread_sigmask(int how, byte[] which, IntPtr before);

        public static void Run()
        {
            var all = new byte[128];
            for (int i = 0; i < all.Length; i++)
                all[i] = 255;
            pthread_sigmask(0, all, IntPtr.Zero);
            var clock = Stopwatch.StartNew();
            while (clock.ElapsedMilliseconds < 1500)
                ;
            Console.WriteLine("worked");
        }
    }

    // Starts another program of .NET.
    static class Parent
    {
        public static void Run(string program)
        {
            var start = new ProcessStartInfo("dotnet", "exec " + program + " shares") { UseShellExecute = false, RedirectStandardOutput = true };
            using (Process child = Process.Start(start)) {
                Console.WriteLine("child {0}", child.StandardOutput.ReadToEnd().Trim());
                child.WaitForExit();
            }
        }
    }

    static class Program
    {
        static int Main(string[] words)
        {
            switch (words[0]) {
            case "calls":
                Calls.Run();
                break;
            case "shares":
                Shares.Run();
                break;
            case "made":
                Made.Run();
                break;
            case "living":
                Living.Run();
                break;
            case "waiting":
                Waiting.Run();
                break;
            case "deaf":
                Deaf.Run();
                break;
            case "parent":
                Parent.Run(words[1]);
                break;
            case "objects":
                Objects.Run();
                break;
            case "crowd":
                Crowd.Run();
                break;
            case "phases":
                Phases.Run();
                break;
            case "endless":
                Endless.Run();
                break;
            case "system":
                System_.Run();
                break;
            default:
                return 1;
            }
            return 0;
        }
    }
}
