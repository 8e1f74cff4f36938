// Finds the key of a file's records.
//
// 1. Every key found is unique and complete in the whole file: single columns were counted when the
//    file was first read, combinations are counted when it is read again.
// 2. With few records nearly everything is unique. A key is then accepted by its name alone: `id`, `stop_id` of stops.
// 3. A column that names another file's key (`service_id`, which calendar.txt has too) isn't a key of this one.

/// The candidate keys of a file, and those still to be tried.
struct KeyPlan {
  /// Columns that may form a key, and its rank: 0 is the best.
  struct Candidate {
    let columns: [Int]
    let tier: Int
  }

  /// The key, if it is one column and certain.
  var single: Int?
  /// Candidates to be tried on the values.
  var candidates: [Candidate] = []
  /// A single unique column, in case no candidate is better.
  var fallback: Candidate?

  /// The columns that others may refer to.
  var targets: [Int] { single.map { [$0] } ?? fallback?.columns ?? [] }

  enum Tier {
    static let known = 0
    static let named = 1
    static let pairOfKeys = 2
    static let threeOfKeys = 3
    static let unnamed = 4
    static let pair = 5
    static let three = 6
  }

  /// The records needed to accept a key that no name suggests.
  static let fewRecords: Int64 = 10
  private static let most = 12

  init() {}

  /// The plan for one of the files.
  init(_ index: Int, of files: [DraftFile]) {
    let file = files[index]
    let columns = file.columns
    let byName = Dictionary(columns.indices.map { (columns[$0].name, $0) }) { first, _ in first }
    for known in KnownKeys.of(base: FileNames.base(of: file.profile.input.name)) {
      let found = known.compactMap { byName[$0] }
      guard found.count == known.count, found.allSatisfy({ columns[$0].isComplete }) else { continue }
      if found.count > 1 {
        candidates.append(Candidate(columns: found, tier: Tier.known))
      } else if columns[found[0]].uniqueness == .unique {
        single = found[0]
        return
      }
    }
    let unique = columns.indices.filter {
      columns[$0].isComplete && columns[$0].isComparable && columns[$0].uniqueness == .unique
        && file.profile.columns[$0].greatestLength <= 255
    }
    let named = unique.compactMap { column -> (rank: Int, column: Int)? in
      let rank = columns[column].words.keyRank(entity: file.entityWords, base: file.baseWords)
      guard let rank, rank < 2 || !Self.isAnothers(column, index, files) else { return nil }
      return (rank, column)
    }
    if let best = named.min(by: { ($0.rank, $0.column) < ($1.rank, $1.column) }) {
      if candidates.isEmpty {
        single = best.column
      } else {
        fallback = Candidate(columns: [best.column], tier: Tier.named)
      }
      return
    }
    let records = file.profile.records
    let unnamed = unique.first { column in
      columns[column].words.mayIdentify && !Self.isAnothers(column, index, files)
        && (records >= Self.fewRecords || (column == 0 && records > 1 && columns[0].type.type == .string))
    }
    if let unnamed { fallback = Candidate(columns: [unnamed], tier: Tier.unnamed) }
    addCombinations(of: columns, records: records)
  }

  /// Pairs and triples of the columns that are most likely keys.
  private mutating func addCombinations(of columns: [DraftFile.Column], records: Int64) {
    guard records > 1 else { return }
    let usable = columns.indices.filter {
      columns[$0].isComplete && (columns[$0].isComparable || columns[$0].type.type == .date)
        && columns[$0].uniqueness != .undetermined && (columns[$0].distinct != 1 || records < Self.fewRecords)
        && (columns[$0].words.isKeyLike || columns[$0].words.mayIdentify)
    }
    func worth(_ column: Int) -> Int {
      columns[column].words.suffix != nil ? 0 : columns[column].words.isKeyLike ? 1 : 2
    }
    let chosen = usable.sorted { (worth($0), $0) < (worth($1), $1) }.prefix(Self.most)
    var found: [Candidate] = []
    func add(_ combination: [Int], keys: Int, others: Int) {
      let worths = combination.map(worth)
      guard worths.contains(where: { $0 < 2 }) else { return }
      let isOfKeys = !worths.contains(2)
      guard isOfKeys || records >= Self.fewRecords else { return }
      // Fewer combinations than records can't be unique.
      let most = combination.reduce(1.0) { $0 * Double(columns[$1].distinct ?? Int(records)) }
      guard most >= Double(records) else { return }
      found.append(Candidate(columns: combination.sorted(), tier: isOfKeys ? keys : others))
    }
    for (place, first) in chosen.enumerated() {
      for (next, second) in chosen.enumerated().dropFirst(place + 1) {
        add([first, second], keys: Tier.pairOfKeys, others: Tier.pair)
        for third in chosen.dropFirst(next + 1) {
          add([first, second, third], keys: Tier.threeOfKeys, others: Tier.three)
        }
      }
    }
    // Of several with the same rank, the first is taken.
    for tier in [Tier.pairOfKeys, Tier.threeOfKeys, Tier.pair, Tier.three] {
      candidates += found.filter { $0.tier == tier }
    }
  }

  /// Whether a column is rather the key of another file, which has a column of the same name or is named by it.
  private static func isAnothers(_ column: Int, _ index: Int, _ files: [DraftFile]) -> Bool {
    let words = files[index].columns[column].words
    return files.indices.contains { other in
      guard other != index else { return false }
      let file = files[other]
      if words.suffix != nil, !words.stem.isEmpty, words.stem == file.entityWords || words.stem == file.baseWords {
        return true
      }
      let hasIt = file.columns.contains {
        $0.words.words == words.words && $0.isComplete && $0.uniqueness == .unique
      }
      guard hasIt, !words.isGeneric else { return false }
      // calendar_dates.txt has the key of calendar.txt.
      return file.baseWords.count < files[index].baseWords.count && files[index].baseWords.starts(with: file.baseWords)
    }
  }
}

/// The keys of the files of GTFS, by which transit agencies publish their timetables. They are tried before others, and
/// taken only if the values are unique.
///
/// Source: gtfs.org, "GTFS Schedule Reference", the primary key of each file.
enum KnownKeys {
  /// The keys for a file with this name; the first whose columns all exist is tried.
  static func of(base: String) -> [[String]] { gtfs[base.lowercased()] ?? [] }

  private static let gtfs: [String: [[String]]] = [
    "agency": [["agency_id"]], "stops": [["stop_id"]], "routes": [["route_id"]], "trips": [["trip_id"]],
    "stop_times": [["trip_id", "stop_sequence"]], "calendar": [["service_id"]],
    "calendar_dates": [["service_id", "date"]], "fare_attributes": [["fare_id"]],
    "fare_rules": [
      ["fare_id", "route_id", "origin_id", "destination_id", "contains_id"],
      ["fare_id", "route_id", "origin_id", "destination_id"], ["fare_id", "route_id"],
    ],
    "shapes": [["shape_id", "shape_pt_sequence"]], "frequencies": [["trip_id", "start_time"]],
    "transfers": [
      ["from_stop_id", "to_stop_id", "from_route_id", "to_route_id", "from_trip_id", "to_trip_id"],
      ["from_stop_id", "to_stop_id"],
    ],
    "pathways": [["pathway_id"]], "levels": [["level_id"]], "attributions": [["attribution_id"]],
    "translations": [["table_name", "field_name", "language", "record_id"]], "areas": [["area_id"]],
    "stop_areas": [["area_id", "stop_id"]], "networks": [["network_id"]], "route_networks": [["route_id"]],
    "fare_media": [["fare_media_id"]], "fare_products": [["fare_product_id", "fare_media_id"], ["fare_product_id"]],
    "timeframes": [["timeframe_group_id", "start_time", "end_time", "service_id"]],
    "booking_rules": [["booking_rule_id"]], "location_groups": [["location_group_id"]],
    "location_group_stops": [["location_group_id", "stop_id"]],
  ]
}
