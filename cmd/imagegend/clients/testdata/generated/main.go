// Command main makes an image with the client that is generated from the OpenAPI document, and prints the
// answer as JSON. It is called as main URL KEY.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"
)

func main() {
	url, key := os.Args[1], os.Args[2]
	client, err := NewClientWithResponses(url, WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+key)
		return nil
	}))
	if err != nil {
		log.Fatal(err)
	}
	size, n := "64x48", 1
	made, err := client.CreateImagesWithResponse(context.Background(), &CreateImagesParams{}, ImageRequest{Model: "fake-1", Prompt: "a fox", Size: &size, N: &n})
	if err != nil {
		log.Fatal(err)
	}
	if made.JSON200 == nil {
		log.Fatalf("%s: %s", made.Status(), made.Body)
	}
	balance, err := client.GetBalanceWithResponse(context.Background(), &GetBalanceParams{})
	if err != nil || balance.JSON200 == nil {
		log.Fatal(err, balance)
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{"id": made.JSON200.Id, "images": made.JSON200.Images, "credits": balance.JSON200.Balance.Credits})
}
