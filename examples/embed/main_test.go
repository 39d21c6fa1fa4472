package main

func Example() {
	main()
	// Output:
	// succeeded: 2 images for 2 credits, 98 left
	// fox-1.png: 1024 x 1024, image/png
	// fox-2.png: 1024 x 1024, image/png
}
