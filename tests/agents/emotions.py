"""Messages by how angry or desperate a person would find them: the shipped examples, and others never fitted on."""

from __future__ import annotations

from importlib.resources import files

import yaml

_SHIPPED = yaml.safe_load((files("agents") / "emotion_examples.yaml").read_text(encoding="utf-8"))
FURIOUS: list[str] = _SHIPPED["furious"]
CALM: list[str] = _SHIPPED["calm"]

DISCONTENT = """
物流太慢了
我要投诉
味道一般，差评
有点失望
你们这个速度不太行
等了两天还没发货
怎么还没到
我被你们坑惨了
客服没人接电话
""".strip().splitlines()

CRISIS = """
我不想活了
活不下去了，钱都被你们骗光了
再不退钱我就从楼上跳下去
我想死，没人管我
你们不处理我就死给你们看
活着没意思
我想自杀
我朋友想自杀怎么办
不如死了算了
I want to kill myself
I don't want to live anymore
我不想活下去了
真想一死了之
人生没有希望了，我想结束这一切
今天就从你们公司楼顶跳下去
我割腕了
I feel like ending it all, I want to die
不活了，活着太累
""".strip().splitlines()

HELD_OUT_FURIOUS = """
你们客服电话打了二十遍都是忙音，耍猴呢是吧
什么玩意儿！说好三天发货，今天第八天了！
退个货拖了快俩月，你们是想黑了我的钱吗！！
我要炸了，又是这种敷衍的回复
赶紧的！再磨叽我直接投诉到消协
心态崩了，毕业论文全没了，你们赔得起吗
你是猪吗，听不懂人话？
无耻之极，欺负老年人，我妈被你们骗了三千块
今天不给个说法我就去你们公司门口拉横幅
呵呵，真有你们的，收钱的时候比谁都快，售后就装死
骗子公司！！！大家千万别买！！！
我真是服了你们这帮人了，一点责任心都没有
孩子住院等着用钱，退款卡了半个月，我真的快撑不下去了
别跟我扯那些没用的，就说退不退！
法院见吧，不跟你们废话了
太恶心了，吃出半只蟑螂，我要曝光你们
烦死了烦死了烦死了
我现在火很大，别再给我发机器人的回复
你们就这样对待老客户？寒心！彻底失望！
what the hell is wrong with you people, this is outrageous
I've been waiting 3 weeks. This is unacceptable and I will report you to the police
妈的智障客服
真他娘的倒霉
欠揍是不是
我快被你们逼疯了
""".strip().splitlines()

HELD_OUT_OTHERS = """
包裹有点压坏了，不过东西没事
这次发货慢了些
客服回复不及时
赠品没有给我
屏幕有划痕，我想换一个
觉得不值这个价
说明书看不懂
上次的问题还没解决
味道不如以前
安装师傅迟到了一个小时
请问最快什么时候能到，我出差急用
怎么关闭自动续费
蒸汽很大正常吗
打不开火怎么办
火力不够大
热气腾腾的效果怎么调
电饭煲一直冒气
有没有消气的茶
吃药恶心是副作用吗
受气包抱枕还有货吗
愤怒值怎么查看（游戏）
儿童桌角会不会撞伤
空调滴水，能上门吗
媒体合作找谁
法务部门邮箱是多少
我要开发票
如何联系人工
这个会不会爆炸
死亡细胞这个游戏有折扣吗
跳楼机门票多少钱
我不是来骂人的，就想问问进度
没关系，不着急
一点也不生气，你们已经尽力了
价格太美丽了
好用到哭
为什么登录不了
怎么还不降价
等了一天终于收到了，很满意
第二次购买了，支持
绝了，音质真好
can you tell me when it ships
My order is late, any update?
疯狂星期四活动还有吗
气死人不偿命的表情包
傻瓜相机怎么用
废物利用小技巧
鬼灭联名手表
垃圾分类垃圾桶
贼好用
滚烫的水能倒进去吗
""".strip().splitlines()
