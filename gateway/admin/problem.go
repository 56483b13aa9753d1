package admin

import (
	"encoding/json"
	"net/http"
)

// problem is an RFC 9457 problem document of type about:blank, whose title is
// that of its status.
type problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
}

func writeProblem(w http.ResponseWriter, p problem) {
	p.Title = http.StatusText(p.Status)
	writeJSON(w, p.Status, "application/problem+json", p)
}

// writeJSON answers with the document. Failing to write means that the client
// is gone: there is nobody left to tell.
func writeJSON(w http.ResponseWriter, status int, contentType string, document any) {
	body, err := json.Marshal(document)
	if err != nil {
		// Only a type that JSON does not know, a fault of ours: recoverPanics
		// logs and answers it.
		panic(err)
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}
