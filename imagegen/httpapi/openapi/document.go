// Package openapi is the OpenAPI 3.1 document of the HTTP interface, with a page to read
// it.
//
//	docs := openapi.Handler("https://images.example.com")
//	mux.Handle(openapi.DocumentPath, docs)
//	mux.Handle(openapi.PagePath, docs)
//	mux.Handle(openapi.PagePath+"/", docs)
//
// The tests of the interface compare every answer and every accepted request with the
// document, so that the two cannot differ; see package openapitest.
package openapi

import _ "embed"

//go:embed openapi.json
var document []byte

// Document returns the document as JSON. It describes a service at the address from which
// it was read. The caller must not change it.
func Document() []byte { return document }
