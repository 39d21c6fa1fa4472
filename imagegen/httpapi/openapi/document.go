// Package openapi contains the OpenAPI 3.1 document of the HTTP interface, and a page that
// displays it.
//
//	docs := openapi.Handler("https://images.example.com")
//	mux.Handle(openapi.DocumentPath, docs)
//	mux.Handle(openapi.PagePath, docs)
//	mux.Handle(openapi.PagePath+"/", docs)
//
// The tests of the interface check every answer and every accepted request against the
// document, so that the two cannot differ; see package openapitest.
package openapi

import _ "embed"

//go:embed openapi.json
var document []byte

// Document returns the document as JSON. It is At(""). The caller must not change it.
func Document() []byte { return document }
