"""Steps that several verbs share: whom a message calls, on which chain it is, who belongs to a room."""
