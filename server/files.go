package server

// OwnFiles are the names of what a server keeps in its data folder beside what the store keeps there: the admin's token,
// and the certificate that it has made with its key. A backup holds them too, so that nobody has to be told anything new.
func OwnFiles() []string { return []string{adminTokenFile, selfSignedCert, selfSignedKey} }
