/// Objects that a controller has to examine after a change: by ID, each once, in the order in which they were noted.
struct FetchedCandidates {
  struct Candidate {
    /// The object, if the context named it.
    var object: ManagedObject?
    /// Its row, as the latest merged save wrote it.
    var row: StoreRow?
    /// Whether a merged save deleted it.
    var isDeleted = false
    /// Whether the store changed its row by itself, so an object that isn't registered has to be read.
    var isRefreshed = false
    /// Whether the object itself has changed, rather than a related one.
    var isChanged = false
  }

  private(set) var ids: [ManagedObjectID] = []
  private var candidates: [ManagedObjectID: Candidate] = [:]

  var isEmpty: Bool { ids.isEmpty }

  subscript(id: ManagedObjectID) -> Candidate { candidates[id] ?? Candidate() }

  mutating func note(_ id: ManagedObjectID, _ change: (inout Candidate) -> Void) {
    if candidates[id] == nil { ids.append(id) }
    change(&candidates[id, default: Candidate()])
  }

  mutating func noteChanged(_ object: ManagedObject) {
    note(object.id) {
      $0.object = object
      $0.isChanged = true
    }
  }

  mutating func noteMerged(_ row: StoreRow) {
    note(row.id) {
      $0.row = row
      $0.isDeleted = false
      $0.isChanged = true
    }
  }

  mutating func noteRefreshed(_ id: ManagedObjectID) {
    note(id) {
      $0.isRefreshed = true
      $0.isChanged = true
    }
  }

  mutating func noteDeleted(_ id: ManagedObjectID) {
    note(id) {
      $0.row = nil
      $0.isDeleted = true
      $0.isChanged = true
    }
  }
}
