import ControlAPI

/// What went wrong on our side of the socket.
enum LocalFailure: Error, Sendable, Hashable {
  /// A model couldn't be read; the reason is the object layer's.
  case cantReadModel(path: String, reason: String)
  /// No model could be made of files, or it couldn't be written; the reason is the importer's.
  case cantInferModel(reason: String)

  /// The failure in the form of every other; its status is 0, for no daemon was asked.
  var problem: Problem {
    switch self {
    case .cantReadModel(let path, let reason):
      Problem(
        status: 0, code: "cant_read_model", title: "The model can't be read", detail: "\(path): \(reason)",
        hint: "It reads .xcdatamodeld and .xcdatamodel directories as Xcode writes them.")
    case .cantInferModel(let reason):
      Problem(status: 0, code: "cant_infer_model", title: "No model was inferred", detail: reason, hint: nil)
    }
  }
}
