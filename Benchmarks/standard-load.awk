# The standard load: people as CSV, on standard output.
#
#   awk -f Benchmarks/standard-load.awk -v rows=1000000 > people.csv
#
# Every awk produces the same bytes: the numbers come from the generator below (Lehmer's, with
# -v seed=N), not from awk's own. Seven columns: id ascends from 1; email is one of 27 first letters (a to z
# and _) and then the id, so an index on it grows in 27 places; note has at most 40 characters; 2 % of the
# rows have a field in quotes with a comma, a doubled quote or a newline inside.
#
# Variants of the same people, each by an option that changes nothing else:
#
#   -v email=random    the email begins with eight random digits, so an index on it is hit everywhere
#   -v changed=100     every hundredth person is a year older
#   -v format=ndjson   one JSON object per line, with numbers for id, age and balance
#   -v clubs=100000    an eighth column, club: the code of one of that many clubs, at random
#   -v clubs=100000 -v format=clubs   these clubs themselves, with code and name

function random(below) {
  state = (state * 48271) % 2147483647
  return int(state / 2147483647 * below)
}

# Uses its own state, so that the rest of the row doesn't change.
function other() { return otherState = (otherState * 48271) % 2147483647 }

function word() { return words[random(wordCount) + 1] }

function code(number) { return sprintf("C%06d", number) }

function csv(text) {
  if (text !~ /[",\n]/) return text
  gsub(/"/, "\"\"", text)
  return "\"" text "\""
}

function json(text) {
  gsub(/"/, "\\\"", text)
  gsub(/\n/, "\\n", text)
  return "\"" text "\""
}

BEGIN {
  if (rows == "") rows = 1000000
  state = (seed == "" ? 20240229 : seed)
  otherState = 19880106
  wordCount = split("barley keel ballast hold anchor cargo mill race lock tide sluice wheel oats tally crane " \
    "rope quay buoy mast stern", words, " ")
  firstCount = split("Ada Björn Chloé Dmitri Edda Farid Greta Hanna İpek Jürgen Kofi Lucía Mårten Noor Olga Priya",
    firsts, " ")
  lastCount = split("Abbott Baird Castro Dunn Eriksen Flores Grieg Hughes Ito Jansen Kaya Larsen Meyer Nkosi",
    lasts, " ")
  split("a b c d e f g h i j k l m n o p q r s t u v w x y z _", initials, " ")

  if (format == "clubs") {
    print "code,name"
    for (number = 1; number <= clubs; number++) print code(number) "," word() " " word()
    exit
  }
  if (format != "ndjson") print "id,name,email,age,balance,created,note" (clubs == "" ? "" : ",club")
  for (id = 1; id <= rows; id++) {
    first = firsts[random(firstCount) + 1]
    last = lasts[random(lastCount) + 1]
    name = first " " last
    note = word() " " word() " " word()
    if (random(50) == 0) {
      kind = random(4)
      if (kind == 0) name = last ", " first
      else if (kind == 1) note = word() ", " word() ", then " word()
      else if (kind == 2) note = "the \"" word() "\" of the " word()
      else note = note "\n" word()
    }
    day = random(3650)
    second = random(86400)
    initial = initials[random(27) + 1]
    age = 18 + random(80)
    balance = sprintf("%d.%02d", random(20000) - 5000, random(100))
    created = sprintf("%04d-%02d-%02dT%02d:%02d:%02dZ", 2015 + int(day / 365), 1 + int(day % 365 / 31), 1 + day % 28,
      int(second / 3600), int(second / 60) % 60, second % 60)
    mail = (email == "random" ? sprintf("%08x", other()) : initial) sprintf("%08d@example.org", id)
    if (changed != "" && id % changed == 0) age++
    if (format == "ndjson") {
      printf "{\"id\":%d,\"name\":%s,\"email\":\"%s\",\"age\":%d,\"balance\":%s,\"created\":\"%s\",\"note\":%s}\n", id,
        json(name), mail, age, balance, created, json(note)
    } else {
      printf "%d,%s,%s,%d,%s,%s,%s%s\n", id, csv(name), mail, age, balance, created, csv(note),
        clubs == "" ? "" : "," code(1 + other() % clubs)
    }
  }
}
