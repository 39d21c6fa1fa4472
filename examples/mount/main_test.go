package main

func Example() {
	main()
	// Output:
	// GET /: 200 OK, text/plain; charset=utf-8
	// GET /api/v1/credits: 200 OK, application/json
	// POST /api/v1/images/generations: 200 OK, application/json
}
