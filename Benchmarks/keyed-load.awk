# Rows that are found by keys of several kinds, on standard output.
#
#   awk -f Benchmarks/keyed-load.awk -v rows=1000000 > readings.csv
#
# Readings have seven columns: number ascends from 1; code is a text of 12 characters in no order; station and at together are
# unique, and so is at alone. The order of the rows is that of number and of at, as in a log.
#
#   -v changed=100          every hundredth reading has another level
#   -v format=parents       not readings, but a JSON object per line with five objects in its parts
#   -v format=stops|routes|trips|stop_times   the files of a transit feed with that many stop times
#
# Every awk produces the same bytes.

function random(below) {
  state = (state * 48271) % 2147483647
  return int(state / 2147483647 * below)
}

# A number of eight digits that no other below 100,000,000 becomes: 48,271,003 has no divisor in common with it.
function scattered(number) { return (number * 48271003) % 100000000 }

function clock(seconds) {
  return sprintf("%02d:%02d:%02d", int(seconds / 3600), int(seconds / 60) % 60, seconds % 60)
}

BEGIN {
  if (rows == "") rows = 1000000
  state = 20240301
  stops = 2000
  routes = 60
  tripLength = 25
  if (format == "stops") {
    print "stop_id,stop_name,stop_lat,stop_lon"
    for (n = 1; n <= stops; n++) printf "S%05d,Stop %d,%.6f,%.6f\n", n, n, 40 + random(9999) / 9999, random(9999) / 9999 - 74
  } else if (format == "routes") {
    print "route_id,route_short_name,route_type"
    for (n = 1; n <= routes; n++) printf "R%d,%d,%d\n", n, n, n % 4
  } else if (format == "trips") {
    print "trip_id,route_id,service_id"
    for (n = 1; (n - 1) * tripLength < rows; n++) printf "T%07d,R%d,WEEK\n", n, 1 + random(routes)
  } else if (format == "stop_times") {
    print "trip_id,stop_sequence,arrival_time,departure_time,stop_id"
    for (n = 0; n < rows; n++) {
      place = n % tripLength
      if (place == 0) {
        start = 18000 + random(60000)
        first = random(stops)
      }
      time = clock(start + place * 120)
      printf "T%07d,%d,%s,%s,S%05d\n", 1 + int(n / tripLength), place + 1, time, time, 1 + (first + place) % stops
    }
  } else if (format == "parents") {
    for (n = 1; n <= rows; n++) {
      printf "{\"number\":%d,\"name\":\"Order %d\",\"parts\":[", n, n
      for (part = 1; part <= 5; part++) {
        printf "%s{\"code\":\"P%09d\",\"size\":%d}", (part > 1 ? "," : ""), n * 10 + part, random(1000)
      }
      print "]}"
    }
  } else {
    print "number,code,station,at,level,grade,note"
    for (n = 1; n <= rows; n++) {
      day = int(n / 86400)
      level = sprintf("%d.%02d", random(500), random(100))
      grade = random(9)
      if (changed != "" && n % changed == 0) level = level "5"
      printf "%d,K%011d,S%03d,%04d-%02d-%02dT%sZ,%s,%d,reading %d\n", n, scattered(n), random(400),
        2000 + int(day / 336), 1 + int(day % 336 / 28), 1 + day % 28, clock(n % 86400), level, grade, random(100000)
    }
  }
}
