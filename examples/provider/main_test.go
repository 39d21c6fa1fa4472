package main

import (
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

func Example() {
	main()
	// Output:
	// red: 2 images, 6 credits left
	// purple: generationFailed: the provider cannot make these images as they are asked for; the credits were returned; change the request
	// balance: 6
}

// Any provider joins the suite like this.
func TestProvider(t *testing.T) {
	providertest.Run(t, providertest.Config{
		New:    func(*testing.T) imagegen.Provider { return stripes{} },
		Prompt: "red",
	})
}
