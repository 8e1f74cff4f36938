/// What a ``FetchedResultsController`` refuses.
public enum FetchedResultsError: Error, Sendable, Equatable {
  /// The request has no sort descriptor: without an order there are no index paths.
  case noSortDescriptors(entity: String)
  /// Objects of one section don't follow each other in the order of the request.
  case sectionsOutOfOrder(name: String, objectIndex: Int)
  /// The key path of the section names isn't one of the entity.
  case unknownSectionKeyPath(String, reason: String)
}

extension FetchedResultsError: CustomStringConvertible {
  /// What was refused, and what to do.
  public var description: String {
    switch self {
    case .noSortDescriptors(let entity):
      return "a fetched results controller of \(entity) needs a request with sort descriptors: add one"
    case .sectionsOutOfOrder(let name, let index):
      return """
        the object at \(index) belongs to section "\(name)", which others have ended: let the first sort descriptor \
        order the objects as their section names do
        """
    case .unknownSectionKeyPath(let path, let reason): return "no sections by \"\(path)\": \(reason)"
    }
  }
}
