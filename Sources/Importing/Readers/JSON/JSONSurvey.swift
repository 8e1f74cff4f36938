/// Where the records of a JSON document are.
struct JSONRecordPlace: Hashable {
  /// What the records are.
  enum Shape: String {
    /// The elements of an array.
    case elements
    /// The members of an object.
    case members
    /// The one object itself.
    case document
    /// Objects one after the other, each a document of its own.
    case documents
  }

  let path: [String]
  let shape: Shape
  /// What was assumed to find them, if it isn't plain.
  var note: String?

  /// The column for the keys of members, where no option names one.
  static let keyColumn = "key"
}

/// What is known of a document's top-level members, by which the place of its records is found. Of constant size, whatever
/// the document's.
struct JSONSurvey {
  /// The keys within one member.
  struct Keys {
    fileprivate var count = 0
    fileprivate var isAlike = false
    fileprivate var beginsWithReason = false
  }

  private static let shownKeys = 20
  /// The keys of the first member that are compared, and the length of such a key in bytes.
  private static let comparedKeys = 1_000
  private static let comparedLength = 256

  /// The names that lists of records have beside counts and links to further pages.
  private static let listNames: Set<String> = [
    "data", "elements", "entries", "features", "hits", "items", "list",
    "objects", "records", "results", "rows", "value", "values",
  ]

  /// What stands beside such a list where it is empty: how many there are, how to get more, and what came of the request.
  /// Letters only, as small ones.
  private static let envelopeNames: Set<String> = [
    "copyright", "count", "currentpage", "cursor", "error", "errors", "etag", "first", "from", "generated",
    "generatedat", "hasmore", "hasnext", "hasnextpage", "incompleteresults", "info", "last", "lastpage",
    "limit", "link", "links", "meta", "metadata", "next", "nextcursor", "nextlink", "nextpage", "nextpagetoken",
    "nexturl", "numfound", "numpages", "odatacontext", "odatacount", "odatanextlink", "offset", "ok", "page",
    "pagecount", "pageinfo", "pagenumber", "pages", "pagesize", "pagination", "paging", "params", "perpage",
    "prev", "previous", "previouspage", "previousurl", "query", "requestid", "self", "size", "skip", "start",
    "status", "statuscode", "success", "timedout", "timestamp", "took", "total", "totalcount", "totalhits",
    "totalitems", "totalpages", "totalresults", "totalrows", "warnings",
  ]
  /// The same beside the features of GeoJSON, RFC 7946 and its predecessor.
  private static let geoNames: Set<String> = ["bbox", "crs", "name", "type"]

  private var found: [String] = []
  /// The members that are arrays of objects.
  private var filled: [String] = []
  private var hasEmptyArray = false
  /// The members that are empty arrays and have the name of a list of records.
  private var emptyLists: Set<String> = []
  /// The first members that don't belong to an envelope.
  private var strangers: [String] = []
  private var count = 0
  private var objects = 0
  /// The keys of the first object that has any.
  private var first: Set<String> = []
  /// Whether these are the keys of a member before.
  private var someAreKnown = false
  private var areAlike = true
  private var someAreAlike = false
  private var allHaveReasons = true

  /// Whether all members so far are objects that may be records.
  var mayBeMembers: Bool { count == objects + 1 && filled.isEmpty && (areAlike || allHaveReasons) }

  mutating func add(_ key: String) {
    count += 1
    if strangers.count < Self.shownKeys, !Self.envelopeNames.contains(key.filter(\.isLetter).lowercased()) {
      strangers.append(key)
    }
    if found.count < Self.shownKeys { found.append(key) }
  }

  mutating func noteArray(_ key: String, isEmpty: Bool) {
    if isEmpty {
      hasEmptyArray = true
      if Self.listNames.contains(key) { emptyLists.insert(key) }
    } else if filled.count < Self.shownKeys {
      filled.append(key)
    }
  }

  /// Notes a key within a member.
  mutating func note(_ key: String, in keys: inout Keys) {
    keys.count += 1
    if key == RejectReason.member {
      if keys.count == 1 { keys.beginsWithReason = true }
    } else if someAreKnown {
      if first.contains(key) { keys.isAlike = true }
    } else if first.count < Self.comparedKeys, key.utf8.count <= Self.comparedLength {
      first.insert(key)
    }
  }

  /// Notes the end of a member that is an object.
  mutating func noteObject(_ keys: Keys) {
    objects += 1
    if !keys.beginsWithReason { allHaveReasons = false }
    if someAreKnown {
      if keys.isAlike { someAreAlike = true } else if keys.count > 0 { areAlike = false }
    }
    someAreKnown = !first.isEmpty
  }

  /// Whether the members are objects that look like records of one kind: all have a key in common with the first. Those of
  /// a reject file have their reasons in common.
  private var areMembers: Bool {
    objects > 0 && count == objects && filled.isEmpty && ((areAlike && someAreAlike) || allHaveReasons)
  }

  /// Whether what was read before a mistake is enough to know the place. The member with the mistake doesn't count.
  mutating func isSettledBeforeMistake() -> Bool {
    if filled.count == 1 { return true }
    if count == objects + 1 { count = objects }
    return areMembers
  }

  /// The place of the records.
  /// - Parameter hasKeys: whether the records may be the members of an object, as an option says.
  func place(hasKeys: Bool = true) throws(ReaderError) -> JSONRecordPlace {
    guard filled.count < 2 else { throw .severalRoots(found: filled) }
    if let only = filled.first ?? emptyList {
      var place = JSONRecordPlace(path: [only], shape: .elements)
      if count > 1 {
        place.note =
          "the records are taken to be those of “\(only.shown)”"
          + (filled.isEmpty ? ", which is empty" : ", and the rest of the document isn't imported")
          + "; if the document itself is the record, say root: ."
      }
      return place
    }
    guard count > 0 else { throw .rootNotFound(path: "", found: found) }
    if areMembers {
      return JSONRecordPlace(
        path: [], shape: .members,
        note:
          "the members of the document are read as its records, with their keys in the column “\(JSONRecordPlace.keyColumn)”; "
          + "key_column names another, and root: . makes one record of the document")
    }
    let advice =
      hasEmptyArray
      ? ", with nothing in its empty array(s); if one of these is for the records, name it as root"
      : hasKeys ? "; if its members are the records, name a column for their keys as key_column" : ""
    return JSONRecordPlace(path: [], shape: .document, note: "the document is read as one record" + advice)
  }

  /// The empty array that says that there are no records: the only member, or the only one with the name of a list, with
  /// nothing but an envelope around it. A record may have empty arrays, and is not to be lost for them.
  private var emptyList: String? {
    if count == 1, hasEmptyArray { return found.first }
    guard emptyLists.count == 1, let list = emptyLists.first else { return nil }
    let isAlone = strangers.allSatisfy { $0 == list || (list == "features" && Self.geoNames.contains($0)) }
    return isAlone ? list : nil
  }
}
