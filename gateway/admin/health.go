package admin

import "net/http"

// Condition is what is known of one endpoint's readiness.
type Condition struct {
	// Endpoint is its name; empty for the gateway as a whole.
	Endpoint string `json:"endpoint,omitempty"`
	// Ready means that the endpoint has joined its share group.
	Ready bool `json:"ready"`
	// Reason says why it is not ready and what to do. Of an endpoint that is
	// ready it is a remark: that its breaker is open, or that it is paused.
	Reason string `json:"reason,omitempty"`
}

// readiness is the document of /readyz.
type readiness struct {
	Ready     bool        `json:"ready"`
	Endpoints []Condition `json:"endpoints"`
}

// health answers as long as the process can answer at all. It looks at nothing
// else: a restart heals neither a broker nor an endpoint, and costs the records
// that are held a delivery.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, "application/json", map[string]string{"status": "ok"})
}

func (s *Server) readiness(w http.ResponseWriter, _ *http.Request) {
	answer := readiness{Ready: true}
	if s.opts.Ready != nil {
		answer.Ready, answer.Endpoints = s.opts.Ready()
	}
	if answer.Endpoints == nil {
		answer.Endpoints = []Condition{} // an array in JSON, never null
	}
	status := http.StatusOK
	if !answer.Ready {
		status = http.StatusServiceUnavailable
	}
	writeJSON(w, status, "application/json", answer)
}
