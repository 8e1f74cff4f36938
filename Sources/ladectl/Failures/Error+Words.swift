import Foundation

/// What an error of reading says, for people: Foundation's own words are for programmers.
func words(of error: any Error) -> String {
  if let error = error as? DecodingError { return words(of: error) }
  let bridged = error as NSError
  guard bridged.domain == NSCocoaErrorDomain else { return "\(error)" }
  // Its own words are of "the operation"; the system's, where there are some, say why.
  let cause = (bridged.userInfo[NSUnderlyingErrorKey] as? any Error) ?? error
  return cause.localizedDescription.replacing("The operation could not be completed. ", with: "")
}

/// The place in the document and what is wrong there: `jobs[0].name: a String should be here`.
private func words(of error: DecodingError) -> String {
  switch error {
  case .keyNotFound(let key, let context): place(context) + "'\(key.stringValue)' is missing"
  case .typeMismatch(let type, let context): place(context) + "a value of the type \(type) should be here"
  case .valueNotFound(let type, let context): place(context) + "a value of the type \(type) should be here, not null"
  case .dataCorrupted(let context): place(context) + context.debugDescription
  @unknown default: "\(error)"
  }
}

private func place(_ context: DecodingError.Context) -> String {
  let path = context.codingPath.reduce(into: "") { text, key in
    text += key.intValue.map { "[\($0)]" } ?? (text.isEmpty ? "" : ".") + key.stringValue
  }
  return path.isEmpty ? "" : path + ": "
}
