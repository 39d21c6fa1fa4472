// Package openapi is the OpenAPI 3.1 document of the HTTP interface, with a page for reading it.
//
//	docs := openapi.Handler("https://images.example.com")
//	mux.Handle(openapi.DocumentPath, docs)
//	mux.Handle(openapi.PagePath, docs)
//	mux.Handle(openapi.PagePath+"/", docs)
//
// The answers and the accepted requests in the tests of the interface are held to the document, so that it can
// neither lack what the service says nor promise what it does not; see package openapitest.
package openapi

import _ "embed"

//go:embed openapi.json
var document []byte

// Document returns the document as JSON, of a service at the address where it was read. The caller must not
// change it.
func Document() []byte { return document }
