import Foundation

/// A readable message for an error while reading; Foundation's are for programmers.
func words(of error: any Error) -> String {
  if let error = error as? DecodingError { return words(of: error) }
  let bridged = error as NSError
  guard bridged.domain == NSCocoaErrorDomain else { return "\(error)" }
  // Its own message only mentions "the operation"; the system's error, if there is one, gives the reason.
  let cause = (bridged.userInfo[NSUnderlyingErrorKey] as? any Error) ?? error
  return cause.localizedDescription.replacing("The operation could not be completed. ", with: "")
}

/// The position in the document and the mistake: `jobs[0].name: a String should be here`.
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
