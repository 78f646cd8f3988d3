// A program of .NET for the examples of the documents.
using System;
using System.Collections.Generic;

static class Shop {
    static int Total(List<int> cart) {
        int sum = 0;
        for (int i = 0; i < 200; i++)
            foreach (int price in cart)
                sum = sum * 31 + price;
        return sum;
    }

    static void Main() {
        int sum = 0;
        for (int i = 0; i < 2000; i++) {
            var cart = new List<int>();
            for (int k = 0; k < 100; k++)
                cart.Add(i * k);
            sum ^= Total(cart);
        }
        Console.WriteLine(sum);
    }
}
