package config

// authKeys are the ways to authenticate at an endpoint. Nothing in them is
// required by the table: defaults may hold one half of a pair, and the endpoint
// the other.
var authKeys = []key{
	{name: "basic", kind: object, optional: true, keys: basicKeys, doc: "User and password."},
	{name: "bearer", kind: object, optional: true, keys: bearerKeys, doc: "A token that stays the same."},
	{name: "header", kind: object, optional: true, keys: authHeaderKeys, doc: "A header of any name that holds a credential."},
	{name: "oauth2", kind: object, optional: true, keys: oauth2Keys, doc: "OAuth2 client credentials."},
	{name: "aws_sigv4", kind: object, optional: true, keys: awsKeys, doc: "AWS Signature Version 4, by the credentials of the process."},
	{name: "gcp_id_token", kind: object, optional: true, keys: gcpKeys, doc: "A Google ID token, by GOOGLE_APPLICATION_CREDENTIALS or the machine's account."},
}

var basicKeys = []key{
	{name: "username", kind: text, private: true, check: checkUser, doc: "The user."},
	{name: "password", kind: secret, doc: "The user's password."},
}

var bearerKeys = []key{
	{name: "token", kind: secret, check: checkToken, doc: "Sent as Authorization: Bearer TOKEN."},
}

var authHeaderKeys = []key{
	{name: "name", kind: text, check: checkAuthHeaderName, doc: "The header's name."},
	{name: "value", kind: secret, check: checkHeaderValue, doc: "The header's value."},
}

var oauth2Keys = []key{
	{name: "token_url", kind: text, private: true, check: checkTokenURL, doc: "Where tokens are asked for."},
	{name: "client_id", kind: text, doc: "The client's id."},
	{name: "client_secret", kind: secret, doc: "The client's secret."},
	{name: "scopes", kind: texts, check: checkScope, doc: "The scopes that are asked for."},
	{name: "audience", kind: text, doc: "The audience that is asked for, in a parameter that several servers have for it."},
}

var awsKeys = []key{
	{name: "region", kind: text, check: checkAWSName, doc: "The region, as eu-west-1."},
	{name: "service", kind: text, check: checkAWSName, doc: "The service, as execute-api or lambda."},
}

var gcpKeys = []key{
	{name: "audience", kind: text, check: checkAudience, doc: "Whom the token is for, mostly the endpoint's origin."},
}
