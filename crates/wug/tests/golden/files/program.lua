local x = 1
print(x)
async y
