/// Why a Core Data store can't be used in place.
public enum CoreDataStoreError: Error, Sendable, Hashable {
  /// The file isn't a store of Core Data: why.
  case notACoreDataStore(path: String, reason: String)
  /// The file was made with another version of the model: what differs, in words.
  case otherModel(path: String, differences: [String])
  /// The store keeps no model of its own, and none was given.
  case noModel(path: String)
  /// The model has something that a Core Data store can't hold, or that isn't known how it does: where, and why.
  case unsupported(path: String, place: String, reason: String)
  /// A column or a table of the file could be that of several properties.
  case ambiguous(path: String, place: String, reason: String)
  /// The file has a trigger or an index that calls a function which only Core Data has.
  case unknownFunction(path: String, name: String, function: String)
  /// A new file can't be made: why, and what to bring.
  case cannotCreate(path: String, reason: String)
}

extension CoreDataStoreError: CustomStringConvertible {
  /// What is impossible, and what to do.
  public var description: String {
    switch self {
    case .notACoreDataStore(let path, let reason): return "\(path): \(reason)"
    case .otherModel(let path, let differences):
      return
        "\(path) was made with another version of the model (\(differences.joined(separator: "; "))): open it with "
        + "that version, or let the app migrate it first"
    case .noModel(let path):
      return
        "\(path) keeps no model of its own, as stores of systems before 2016: give the app's .momd or .xcdatamodeld"
    case .unsupported(let path, let place, let reason): return "\(path): \(place) \(reason)"
    case .ambiguous(let path, let place, let reason):
      return
        "\(path): \(place) \(reason), and nothing in the file says which: it can only be imported, with a model that "
        + "leaves the property out"
    case .unknownFunction(let path, let name, let function):
      return "\(path): \(name) calls \(function), a function that only Core Data has: open the store with isReadOnly"
    case .cannotCreate(let path, let reason): return "\(path) doesn't exist and can't be made: \(reason)"
    }
  }
}
